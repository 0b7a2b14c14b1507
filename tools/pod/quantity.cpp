// `Quantity`: amounts of resources as Kubernetes writes them, such as `500m`, `1.5Gi` and `1e3`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace pod {

namespace {

/// The factor of a suffix: a power of ten and a power of two.
struct Scale {
  int ten = 0;
  int two = 0;
};

/// The factor of a suffix such as `m`, `Gi` or `e-3`. An exponent is clamped to +-1000: beyond
/// that, the amount is 0, too large, or smaller than a billionth.
std::optional<Scale> scale_of(std::string_view suffix) {
  constexpr std::array<std::string_view, 10> tens{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr std::array<std::string_view, 7> twos{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  for (std::size_t i = 0; i < tens.size(); ++i) {
    if (tens[i] == suffix) return Scale{.ten = 3 * static_cast<int>(i) - 9};
    if (i < twos.size() && twos[i] == suffix) return Scale{.two = 10 * static_cast<int>(i)};
  }
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return std::nullopt;
  const bool negative = suffix.starts_with("e-") || suffix.starts_with("E-");
  suffix.remove_prefix(negative || suffix.substr(1).starts_with('+') ? 2 : 1);
  if (suffix.empty() || suffix.find_first_not_of("0123456789") != suffix.npos) return std::nullopt;
  int exponent = 1000;  // as for a larger one
  std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  return Scale{.ten = std::min(exponent, 1000) * (negative ? -1 : 1)};
}

void double_digits(std::string& digits) {
  int carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    const int value = (digits[i] - '0') * 2 + carry;
    digits[i] = static_cast<char>('0' + value % 10);
    carry = value / 10;
  }
  if (carry != 0) digits.insert(digits.begin(), '1');
}

/// Converts digits, of which the last `fraction` follow the point, to an amount, rounded up to
/// billionths. A negative `fraction` adds zeros. Nullopt for more than 2^63 - 1.
std::optional<Quantity> rounded(std::string digits, long fraction) {
  constexpr std::size_t max_digits = 19;  // of 2^63
  constexpr std::size_t places = 9;
  digits.erase(0, digits.find_first_not_of('0'));
  const long before = digits.empty() ? 0 : static_cast<long>(digits.size()) - fraction;
  if (before < 0)
    digits.insert(0, before < -10 ? places + 1 : static_cast<std::size_t>(-before), '0');
  const auto point = static_cast<std::size_t>(std::max(before, 0L));
  if (point > max_digits) return std::nullopt;
  if (digits.size() < point + places) digits.resize(point + places, '0');
  Quantity out;
  const char* const middle = digits.data() + point;
  const auto whole = std::from_chars(digits.data(), middle, out.whole);
  if (whole.ec == std::errc::result_out_of_range) return std::nullopt;
  std::from_chars(middle, middle + places, out.nano);
  const bool more = digits.find_first_not_of('0', point + places) != std::string::npos;
  return more ? sum(out, {0, 1}) : out;
}

}  // namespace

std::optional<Quantity> sum(const Quantity& a, const Quantity& b) {
  constexpr std::uint32_t nanos = 1'000'000'000;
  const auto nano = a.nano + b.nano;  // below 2 * 10^9, which 32 bits hold
  const std::int64_t carry = nano / nanos;
  if (b.whole > max_units - a.whole || carry > max_units - a.whole - b.whole) return std::nullopt;
  return Quantity{a.whole + b.whole + carry, nano % nanos};
}

std::int64_t units(const Quantity& amount) {
  return amount.nano == 0 || amount.whole == max_units ? amount.whole : amount.whole + 1;
}

std::optional<std::int64_t> thousandths(const Quantity& amount) {
  const std::int64_t part = (amount.nano + 999'999) / 1'000'000;
  if (amount.whole > (max_units - part) / 1000) return std::nullopt;
  return amount.whole * 1000 + part;
}

std::int64_t mebibytes(const Quantity& amount) {
  constexpr std::int64_t mebibyte = 1 << 20;
  const auto bytes = units(amount);
  return bytes / mebibyte + (bytes % mebibyte == 0 ? 0 : 1);
}

std::string decimal_text(std::int64_t units) {
  constexpr std::array<std::string_view, 7> suffixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t power = 0;
  for (; units != 0 && units % 1000 == 0; units /= 1000) ++power;
  return std::to_string(units).append(suffixes[power]);
}

cdi::Result<Quantity> parse_quantity(std::string_view text) {
  const auto reject = [&](std::string_view fault) {
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = cdi::quoted(text).append(" ").append(fault)};
  };
  if (text.size() > 256) return reject("is longer than 256 bytes");
  const auto rest = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
  std::string digits{rest.substr(0, end)};
  const auto point = digits.find('.');
  const auto scale = scale_of(rest.substr(end));
  long fraction = 0;
  if (point != digits.npos) {
    digits.erase(point, 1);
    fraction = static_cast<long>(digits.size() - point);
  }
  if (!scale || digits.empty() || digits.find('.') != digits.npos) {
    return reject("is not a quantity: write, for example, 2, 0.5, 500m, 1e3, 512Mi or 4Gi");
  }
  const bool is_zero = digits.find_first_not_of('0') == digits.npos;
  if (text.starts_with('-') && !is_zero) return reject("must not be negative");
  for (int i = 0; i < scale->two; ++i) double_digits(digits);
  const auto amount = rounded(std::move(digits), fraction - scale->ten);
  if (!amount) return reject("is larger than 2^63 - 1");
  return *amount;
}

}  // namespace pod
