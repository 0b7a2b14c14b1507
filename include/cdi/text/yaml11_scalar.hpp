// Unquoted texts that YAML 1.1 reads as booleans or numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML11_SCALAR_HPP
#define CDI_TEXT_YAML11_SCALAR_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Whether a number fits a Go integer of 64 bits, signed or unsigned.
inline bool is_go_integer(std::string_view text) {
  const Integer number = detail::parse_integer(text);
  return number.state == Integer::State::whole &&
         (!number.negative || number.magnitude <= std::uint64_t{1} << 63);
}

/// Whether a text is a decimal number as Go writes it: without plus sign, leading zeros,
/// underscores, exponent or final zeros in a fraction, and with at most 7 digits if fractional.
inline bool is_go_decimal(std::string_view text) {
  constexpr std::size_t max_digits = 7;
  if (text == "-0") return false;
  const std::string_view number = text.substr(text.starts_with('-') ? 1 : 0);
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  if (number.find_first_not_of("0123456789.") != text.npos) return false;
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return false;
  if (point == text.npos) return detail::is_go_integer(text);
  const std::size_t digits = number.size() - 1 - (whole == "0" ? 1 : 0);
  return digits <= max_digits && !number.starts_with("0.0000") && number.back() != '0' &&
         number.back() != '.' && number.rfind('.') == point;
}

/// Whether an unquoted text is a number in YAML 1.1; very long numbers are excluded.
inline bool is_old_number(std::string_view text) {
  if (text.starts_with('_') || (text.starts_with('.') && text.find('_') != text.npos)) return false;
  std::string digits{text};
  std::erase(digits, '_');
  if (digits.starts_with('-') || digits.starts_with('+')) digits.erase(0, 1);
  for (const std::string_view word : {".inf", ".Inf", ".INF"}) {
    if (digits == word) return true;
  }
  for (const std::string_view word : {".nan", ".NaN", ".NAN"}) {
    if (text == word) return true;
  }
  if (detail::take_base(digits) != 10) return detail::is_go_integer(text);
  std::int64_t exponent = 0;
  if (!detail::take_exponent(digits, exponent)) return false;
  if (const auto point = digits.find('.'); point != std::string::npos) digits.erase(point, 1);
  return !digits.empty() && digits.size() <= 64 && exponent <= 308 &&
         digits.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether the Go library up to 1.1.0 changes an unquoted text: `yes` to `true`, 010 to 8, 1.0 to
/// 1. That library reads the scalar as a boolean or number and formats the result as text.
inline bool is_other_text_in_yaml_1_1(std::string_view plain) {
  if (const auto truth = detail::parse_boolean(plain)) return plain != (*truth ? "true" : "false");
  return !detail::is_go_decimal(plain) && detail::is_old_number(plain);
}

/// A quick pre-check for `is_other_text_in_yaml_1_1`, based on the size and first characters.
inline bool may_be_other_text(std::string_view plain) {
  if (plain.size() < 2) return plain == "y" || plain == "Y" || plain == "n" || plain == "N";
  const auto is_digit_or_point = [](char c) {
    return (c >= '0' && c <= '9') || c == '.';
  };
  const char first = plain.front();
  if (first == '-' || first == '+') return is_digit_or_point(plain[1]) || plain[1] == '_';
  if (first == 'T' || first == 'F') return plain.size() <= 5;
  const char letter = ascii_lower(first);
  return is_digit_or_point(first) ||
         (plain.size() <= 3 && (letter == 'y' || letter == 'n' || letter == 'o'));
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML11_SCALAR_HPP
