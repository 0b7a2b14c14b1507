// `Quantity`: amounts of resources as Kubernetes writes them, such as `500m`, `1.5Gi` and `1e3`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_QUANTITY_HPP
#define CDI_TOOLS_POD_QUANTITY_HPP

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

// Grammar, rounding and limits follow resource.Quantity in Kubernetes 1.34
// (k8s.io/apimachinery/pkg/api/resource/quantity.go). Here, a negative amount is an error, and so
// are two texts that Kubernetes accepts: an amount above 2^63 - 1, which it clamps or lets
// overflow, and a text without digits, such as `Gi`, which it reads as 0.

namespace pod {

/// A nonnegative amount in billionths, the precision of Kubernetes.
struct Quantity {
  std::int64_t whole = 0;
  std::uint32_t nano = 0;  ///< below 10^9

  friend auto operator<=>(const Quantity&, const Quantity&) = default;
};

inline constexpr std::int64_t max_units = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint32_t nanos = 1'000'000'000;

/// The sum; nullopt if it is larger than 2^63 - 1.
inline std::optional<Quantity> sum(const Quantity& a, const Quantity& b) {
  const auto nano = a.nano + b.nano;  // below 2 * 10^9, which 32 bits hold
  const std::int64_t carry = nano >= nanos ? 1 : 0;
  if (b.whole > max_units - a.whole || carry > max_units - a.whole - b.whole) return std::nullopt;
  return Quantity{a.whole + b.whole + carry, carry == 1 ? nano - nanos : nano};
}

/// The amount in whole units, rounded up, like `Value()` in Kubernetes.
inline std::int64_t units(const Quantity& amount) {
  return amount.nano == 0 || amount.whole == max_units ? amount.whole : amount.whole + 1;
}

/// The amount in thousandths, rounded up, like `MilliValue()` in Kubernetes; nullopt if it is
/// larger than 2^63 - 1.
inline std::optional<std::int64_t> thousandths(const Quantity& amount) {
  const std::int64_t part = (amount.nano + 999'999) / 1'000'000;
  if (amount.whole > (max_units - part) / 1000) return std::nullopt;
  return amount.whole * 1000 + part;
}

/// The amount in MiB, rounded up.
inline std::int64_t mebibytes(const Quantity& amount) {
  constexpr std::int64_t mebibyte = 1 << 20;
  const auto bytes = units(amount);
  return bytes / mebibyte + (bytes % mebibyte == 0 ? 0 : 1);
}

/// A number of units as Kubernetes prints it in its decimal format: `4`, `2k`.
inline std::string decimal_text(std::int64_t units) {
  constexpr std::array<std::string_view, 7> suffixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t power = 0;
  for (; units != 0 && units % 1000 == 0; units /= 1000) ++power;
  return std::to_string(units).append(suffixes[power]);
}

namespace detail {

/// Decimal digits; the last `fraction` digits follow the point, and a negative `fraction` adds
/// zeros.
struct Digits {
  std::string digits{};
  long fraction = 0;
};

/// The factor of a suffix: a power of ten and a power of two.
struct Scale {
  int ten = 0;
  int two = 0;
};

struct SuffixRow {
  std::string_view suffix;
  Scale scale;
};

inline constexpr std::array<SuffixRow, 16> suffix_rows{{
    {"", {0, 0}},
    {"n", {-9, 0}},
    {"u", {-6, 0}},
    {"m", {-3, 0}},
    {"k", {3, 0}},
    {"M", {6, 0}},
    {"G", {9, 0}},
    {"T", {12, 0}},
    {"P", {15, 0}},
    {"E", {18, 0}},
    {"Ki", {0, 10}},
    {"Mi", {0, 20}},
    {"Gi", {0, 30}},
    {"Ti", {0, 40}},
    {"Pi", {0, 50}},
    {"Ei", {0, 60}},
}};

/// The exponent of a suffix such as `e3` or `E-3`, clamped to +-1000: beyond that, the amount is 0,
/// too large, or smaller than a billionth.
inline std::optional<int> exponent_of(std::string_view suffix) {
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return std::nullopt;
  suffix.remove_prefix(1);
  const bool negative = suffix.starts_with('-');
  if (negative || suffix.starts_with('+')) suffix.remove_prefix(1);
  int exponent = 0;
  for (const char c : suffix) {
    if (c < '0' || c > '9') return std::nullopt;
    exponent = exponent >= 1000 ? 1000 : exponent * 10 + (c - '0');
  }
  if (suffix.empty()) return std::nullopt;
  return negative ? -exponent : exponent;
}

inline std::optional<Scale> scale_of(std::string_view suffix) {
  for (const auto& row : suffix_rows) {
    if (row.suffix == suffix) return row.scale;
  }
  const auto exponent = exponent_of(suffix);
  if (!exponent) return std::nullopt;
  return Scale{*exponent, 0};
}

/// Removes leading digits from a text, with at most one point. Nullopt if there are no digits.
inline std::optional<Digits> take_digits(std::string_view& text) {
  Digits out;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (!digit && (text[i] != '.' || point)) break;
    if (digit) out.digits += text[i];
    if (digit && point) ++out.fraction;
    point = point || !digit;
  }
  text.remove_prefix(i);
  if (out.digits.empty()) return std::nullopt;
  return out;
}

inline void double_digits(std::string& digits) {
  int carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    const int value = (digits[i] - '0') * 2 + carry;
    digits[i] = static_cast<char>('0' + value % 10);
    carry = value / 10;
  }
  if (carry != 0) digits.insert(digits.begin(), '1');
}

/// Converts digits to an amount, rounded up to billionths; nullopt if it is larger than 2^63 - 1.
inline std::optional<Quantity> rounded(const Digits& number) {
  const auto first = number.digits.find_first_not_of('0');
  if (first == std::string::npos) return Quantity{};
  const auto digits = std::string_view{number.digits}.substr(first);
  const long before = static_cast<long>(digits.size()) - number.fraction;  // digits of the integer
  if (before > 19) return std::nullopt;                                    // 2^63 has 19 digits
  const auto digit = [&](long i) -> int {
    return i >= 0 && i < static_cast<long>(digits.size())
               ? digits[static_cast<std::size_t>(i)] - '0'
               : 0;
  };
  Quantity out;
  for (long i = 0; i < before; ++i) {
    if (out.whole > (max_units - digit(i)) / 10) return std::nullopt;
    out.whole = out.whole * 10 + digit(i);
  }
  for (long i = before; i < before + 9; ++i) {
    out.nano = out.nano * 10 + static_cast<std::uint32_t>(digit(i));
  }
  const long rest = before + 9 < 0 ? 0 : before + 9;
  const bool more =
      rest < static_cast<long>(digits.size()) &&
      digits.find_first_not_of('0', static_cast<std::size_t>(rest)) != std::string_view::npos;
  return more ? sum(out, {0, 1}) : out;
}

}  // namespace detail

/// Parses an amount. `Errc::invalid` for other text, for a negative amount, and for an amount above
/// 2^63 - 1.
inline cdi::Result<Quantity> parse_quantity(std::string_view text) {
  const auto reject = [&](std::string_view fault) {
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = cdi::quoted(text).append(" ").append(fault)};
  };
  if (text.size() > 256) return reject("is longer than 256 bytes");
  auto rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  auto number = detail::take_digits(rest);
  const auto scale = detail::scale_of(rest);
  if (!number || !scale) {
    return reject("is not a quantity: write, for example, 2, 0.5, 500m, 1e3, 512Mi or 4Gi");
  }
  number->fraction -= scale->ten;
  for (int i = 0; i < scale->two; ++i) detail::double_digits(number->digits);
  const auto amount = detail::rounded(*number);
  if (negative && (!amount || *amount != Quantity{})) return reject("must not be negative");
  if (!amount) return reject("is larger than 2^63 - 1");
  return *amount;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_QUANTITY_HPP
