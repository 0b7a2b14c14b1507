// The path of a member in a document, as text for messages: `devices[0].name`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_BASE_MEMBER_PATH_HPP
#define CDI_BASE_MEMBER_PATH_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The path of a member, kept in parts; only a message needs the whole text.
struct MemberPath {
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  const MemberPath* outer = nullptr;
  std::string_view key{};
  std::size_t index = no_index;

  std::string text() const;
};

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/member_path.inl>
#endif

#endif  // CDI_BASE_MEMBER_PATH_HPP
