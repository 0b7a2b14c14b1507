// The bodies of <cdi/text/member_case.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_MEMBER_CASE_INL
#define CDI_TEXT_MEMBER_CASE_INL

#include <cdi/text/member_case.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Removes the first character of a nonempty text and returns it in lower case. Characters outside
/// ASCII are returned byte by byte, except for the two that Go folds into ASCII.
inline char take_folded(std::string_view& text) {
  constexpr std::string_view long_s = "\xC5\xBF";           // U+017F
  constexpr std::string_view kelvin_sign = "\xE2\x84\xAA";  // U+212A
  if (text.starts_with(long_s)) {
    text.remove_prefix(long_s.size());
    return 's';
  }
  if (text.starts_with(kelvin_sign)) {
    text.remove_prefix(kelvin_sign.size());
    return 'k';
  }
  const char first = ascii_lower(text.front());
  text.remove_prefix(1);
  return first;
}

CDI_INLINE bool same_key(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() && !b.empty()) {
    if (a.front() == b.front()) {
      a.remove_prefix(1);
      b.remove_prefix(1);
    } else if (take_folded(a) != take_folded(b)) {
      return false;
    }
  }
  return a.empty() && b.empty();
}

CDI_INLINE Error wrong_case(std::string_view name, std::string_view key, std::string_view outer) {
  return {.code = Errc::schema,
          .message = "the member name is in a different case",
          .advice = "write " + cdi::quoted(key) + ", and only once",
          .where = inner_path(outer, name)};
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_MEMBER_CASE_INL
