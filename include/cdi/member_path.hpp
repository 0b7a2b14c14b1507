// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MEMBER_PATH_HPP
#define CDI_MEMBER_PATH_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The way to a member, made into text only when a rule is broken there.
struct MemberPath {
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  const MemberPath* outer = nullptr;
  std::string_view key{};
  std::size_t index = no_index;

  std::string text() const;
};

}  // namespace cdi::inline CDI_ABI::detail

#if CDI_BODIES
#include <cdi/impl/member_path.hpp>
#endif

#endif  // CDI_MEMBER_PATH_HPP
