// Texts without quotes that YAML 1.1 takes for booleans or numbers.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_OLD_SCALAR_HPP
#define CDI_TEXT_OLD_SCALAR_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Whether a text is a decimal number as Go writes it: without plus, leading zeros, underscores,
/// exponent, and zeros behind the fraction.
inline bool is_go_decimal(std::string_view text) {
  if (text == "-0") return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (text.find_first_not_of("0123456789.") != text.npos) return false;
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return false;
  if (point == text.npos) return text.size() <= 19;  // 64 bits
  const bool short_enough = whole.size() <= 6 && text.size() <= 16 && !text.starts_with("0.0000");
  return short_enough && text.back() != '0' && text.back() != '.' && text.rfind('.') == point;
}

/// Whether a text without quotes is a number in YAML 1.1, other than a very long one.
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
  const int base = detail::take_base(digits);
  std::int64_t exponent = 0;
  if (base == 10 && !detail::take_exponent(digits, exponent)) return false;
  const auto point = digits.find('.');
  if (base == 10 && point != std::string::npos) digits.erase(point, 1);
  const std::string_view allowed = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
  const std::size_t count = base == 16 ? allowed.size() : static_cast<std::size_t>(base);
  return !digits.empty() && digits.size() <= 64 && exponent <= 300 &&
         digits.find_first_not_of(allowed.substr(0, count)) == std::string::npos;
}

/// Whether the Go library up to 1.1.0 reads a text without quotes as another text: `yes` as `true`,
/// 010 as 8, 1.0 as 1. It takes such a scalar for a boolean or a number, and writes that as text.
inline bool is_other_text_in_yaml_1_1(std::string_view plain) {
  if (const auto truth = detail::parse_boolean(plain)) return plain != (*truth ? "true" : "false");
  return !detail::is_go_decimal(plain) && detail::is_old_number(plain);
}

/// Whether a text may be one for `is_other_text_in_yaml_1_1`, by its first characters and its size.
inline bool may_be_other_text(std::string_view plain) {
  if (plain.size() < 2) return plain == "y" || plain == "Y" || plain == "n" || plain == "N";
  const auto is_digit_or_point = [](char c) {
    return (c >= '0' && c <= '9') || c == '.';
  };
  const char first = plain.front();
  if (first == '-' || first == '+') return is_digit_or_point(plain[1]);
  if (first == 'T' || first == 'F') return plain.size() <= 5;
  const char letter = ascii_lower(first);
  return is_digit_or_point(first) ||
         (plain.size() <= 3 && (letter == 'y' || letter == 'n' || letter == 'o'));
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_OLD_SCALAR_HPP
