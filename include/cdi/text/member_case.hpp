// Member names that differ from a field's name only in case.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_MEMBER_CASE_HPP
#define CDI_TEXT_MEMBER_CASE_HPP

#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Whether Go's encoding/json, which the Go reference and most runtimes use, matches both names to
/// the same field: case is ignored, U+017F is an s, and U+212A is a k. The example in the CDI
/// specification contains `additionalGIDs`. One of the names must be ASCII.
bool same_key(std::string_view a, std::string_view b) noexcept;

/// Whether a name is `key`, which begins with a letter, in a different case.
inline bool is_in_other_case(std::string_view name, std::string_view key) noexcept {
  if (name.empty()) return false;
  const auto first = static_cast<unsigned char>(name.front());
  constexpr unsigned char case_bit = 0x20;
  if (((first ^ key.front()) & ~case_bit) != 0 && first < 0x80) return false;  // usual case
  return name != key && detail::same_key(name, key);
}

/// The `Errc::schema` error for a member of the object `outer` whose name is `key` in a different
/// case. Runtimes written in Go accept the name as `key`; others do not.
Error wrong_case(std::string_view name, std::string_view key, std::string_view outer);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/text/member_case.inl>
#endif

#endif  // CDI_TEXT_MEMBER_CASE_HPP
