// Finds a member of a map in a document, ignoring the case of its key.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_FIND_MEMBER_HPP
#define CDI_FILES_FIND_MEMBER_HPP

#include <optional>
#include <string>
#include <string_view>

#include <cdi/text/document.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Returns the value of a member, ignoring the case of its key.
inline std::optional<Document::Value> find_member(const Document::Value& map,
                                                  std::string_view name) {
  for (const auto [key, value] : map.members()) {
    if (same_key(key.text(), name)) return value;
  }
  return std::nullopt;
}

inline std::string name_of_device(const Document::Value& item) {
  const auto name = detail::find_member(item, "name");
  return std::string{name ? name->text() : std::string_view{}};
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_FIND_MEMBER_HPP
