// The bodies of <cdi/model/any_value.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_ANY_VALUE_INL
#define CDI_MODEL_ANY_VALUE_INL

#include <cdi/model/any_value.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE bool is_json_number(std::string_view text) {
  const auto digits = [&text] {
    const auto found = text.find_first_not_of("0123456789");
    const auto end = found == text.npos ? text.size() : found;
    text.remove_prefix(end);
    return end;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

}  // namespace cdi::detail

#endif  // CDI_MODEL_ANY_VALUE_INL
