// The meaning of scalars: numbers and booleans in JSON and YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_SCALAR_HPP
#define CDI_TEXT_SCALAR_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The integer value of a scalar: 64 bits and a sign.
struct Integer {
  enum class State : std::uint8_t { whole, too_large, none } state = State::none;
  bool negative = false;
  std::uint64_t magnitude = 0;

  /// The number's bits as a value of an integer type, if the number is in range.
  std::optional<std::uint64_t> bits_of(const Type& type) const {
    if (state != State::whole) return std::nullopt;
    if (!negative || magnitude == 0) {
      return magnitude <= greatest(type) ? std::optional{magnitude} : std::nullopt;
    }
    // The negative range is larger by one.
    const bool fits = type.has_sign && magnitude - 1 <= greatest(type);
    return fits ? std::optional{0 - magnitude} : std::nullopt;
  }

  /// The greatest value of an integer type.
  static std::uint64_t greatest(const Type& type) {
    const std::size_t bits = 8 * type.size - (type.has_sign ? 1 : 0);
    return ~std::uint64_t{0} >> (64 - bits);
  }
};

/// Removes a base prefix and returns the base: 0x1A4, 0b101, 0o644, or 0644 in YAML 1.1. Like the
/// Go reference, reads a number with the digit 8 or 9 as decimal.
inline int take_base(std::string& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char mark = ascii_lower(digits[1]);
  if (mark == 'x' || mark == 'b' || mark == 'o') {
    digits.erase(0, 2);
    return mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
  }
  return digits.find_first_not_of("01234567") == std::string::npos ? 8 : 10;
}

/// Removes a number's exponent, such as `e2`, if any. Returns false for a malformed exponent.
inline bool take_exponent(std::string& digits, std::int64_t& exponent) {
  const auto e = digits.find_first_of("eE");
  if (e == std::string::npos) return true;
  const char* first = digits.data() + e + 1;
  const char* const last = digits.data() + digits.size();
  if (first != last && *first == '+' && first + 1 != last && first[1] != '-') ++first;
  const auto [stop, failed] = std::from_chars(first, last, exponent);
  if (failed == std::errc::invalid_argument || stop != last) return false;
  constexpr std::int64_t max = 1'000'000'000;  // longer than any text
  if (failed != std::errc{}) exponent = *first == '-' ? -max : max;
  if (exponent > max) exponent = max;
  if (exponent < -max) exponent = -max;
  digits.erase(e);
  return true;
}

/// Multiplies a nonzero integer by a power of ten. Returns false if the result has a fraction.
inline bool multiply(std::string& digits, std::int64_t exponent) {
  for (; exponent < 0; ++exponent) {
    if (digits.back() != '0') return false;
    digits.pop_back();
  }
  constexpr std::int64_t max = 40;  // more digits than any 64-bit integer has
  digits.append(static_cast<std::size_t>(exponent < max ? exponent : max), '0');
  return true;
}

/// Changes 240.0 to 240, and 1e2 to 100. Returns false for other text and for fractions.
inline bool take_point_and_exponent(std::string& digits) {
  std::int64_t exponent = 0;
  if (!detail::take_exponent(digits, exponent)) return false;
  if (const auto point = digits.find('.'); point != std::string::npos) {
    exponent -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  if (digits.find_first_not_of('0') != std::string::npos) {
    return detail::multiply(digits, exponent);
  }
  digits = "0";
  return true;
}

/// Reads plain digits, the usual form; `state` is `none` for other forms and for 18 or more digits.
inline Integer parse_digits(std::string_view text) {
  const bool other_base = text.size() > 1 && text.front() == '0';
  if (text.empty() || text.size() >= 18 || other_base) return {};
  Integer number{.state = Integer::State::whole};
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    number.magnitude = number.magnitude * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

/// Reads an integer as written in JSON, YAML 1.1 (which allows underscores) or YAML 1.2.
inline Integer parse_integer(std::string_view text) {
  const Integer simple = detail::parse_digits(text);
  if (simple.state == Integer::State::whole) return simple;
  if (text.starts_with('_')) return {};
  std::string digits{text};
  std::erase(digits, '_');
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);

  const int base = detail::take_base(digits);
  if (base == 10 && !detail::take_point_and_exponent(digits)) return {};
  Integer number{.negative = negative};
  const char* const last = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), last, number.magnitude, base);
  if (digits.empty() || stop != last) return {};
  number.state = failed == std::errc{} ? Integer::State::whole : Integer::State::too_large;
  return number;
}

/// Reads a boolean in any YAML 1.1 spelling, which includes JSON's.
inline std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    if (text == word) return true;
  }
  for (const std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

/// Whether a boolean is spelled `true` or `false`, rather than a YAML 1.1 word such as `yes`.
inline bool is_true_or_false(std::string_view boolean) {
  const char first = ascii_lower(boolean.front());
  return first == 't' || first == 'f';
}

/// Whether an unquoted text looks like a number, for messages.
inline bool looks_like_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_SCALAR_HPP
