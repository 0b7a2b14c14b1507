// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MEMBER_PATH_HPP
#define CDI_MEMBER_PATH_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The way to a member, made into text only when a rule is broken there.
struct MemberPath {
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  const MemberPath* outer = nullptr;
  std::string_view key{};
  std::size_t index = no_index;

  std::string text() const {
    std::string out = outer == nullptr ? "" : outer->text();
    if (!out.empty() && !key.empty()) out.append(".");
    return index == no_index ? out.append(key) : item_path(out.append(key), index);
  }
};

}  // namespace cdi::inline CDI_ABI::detail

#endif  // CDI_MEMBER_PATH_HPP
