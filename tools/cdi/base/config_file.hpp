// An OCI config.json as a value, with exact numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_CONFIG_FILE_HPP
#define CDI_TOOLS_CDI_BASE_CONFIG_FILE_HPP

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/json.hpp>

#include "output.hpp"

namespace detail {

/// A number as its significant digits without outer zeros, and the power of ten of the last digit:
/// 120.0 and 1.2e2 are both 12 and 1.
struct Decimal {
  std::string digits{};
  long exponent = 0;

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

inline Decimal parse_decimal(std::string_view number) {
  Decimal out;
  const auto e = std::min(number.find_first_of("eE"), number.size());
  if (e < number.size()) {
    constexpr long max = 1'000'000'000;  // longer than any text
    const auto exponent = std::strtol(std::string{number.substr(e + 1)}.c_str(), nullptr, 10);
    out.exponent = std::clamp(exponent, -max, max);
  }
  bool fraction = false;
  for (const char c : number.substr(0, e)) {
    fraction = fraction || c == '.';
    if (c < '0') continue;  // a sign or the point
    if (fraction) --out.exponent;
    if (c != '0' || !out.digits.empty()) out.digits.append(1, c);
  }
  for (; out.digits.ends_with('0'); ++out.exponent) out.digits.pop_back();
  if (out.digits.empty()) out.exponent = 0;
  return out;
}

/// Whether writing `value` gives back the number that was read: the decimal digits are the same, or
/// a double holds all of them.
inline bool is_kept(std::string_view number, const Json& value) {
  if (value.is_discarded()) return false;  // too large for a double
  if (!value.is_number_float()) return true;
  const Decimal decimal = parse_decimal(number);
  if (decimal == parse_decimal(value.dump())) return true;
  return decimal.digits.size() <= 15 && std::isnormal(value.get<double>());
}

/// Converts a document value to JSON. Keys in the document are unique, so no lookup is needed.
inline cdi::Result<Json> to_json_value(const cdi::Document::Value& value) {
  switch (value.kind()) {
    case cdi::Document::Kind::null: return Json{};
    case cdi::Document::Kind::quoted: return Json(std::string{value.text()});
    case cdi::Document::Kind::plain: {
      auto parsed = Json::parse(value.text(), nullptr, /*allow_exceptions=*/false);
      if (is_kept(value.text(), parsed)) return parsed;
      return cdi::Error{
          .code = cdi::Errc::unsupported,
          .message = "the number has too many digits, or is too large, to be kept exactly",
          .position = value.position()};
    }
    case cdi::Document::Kind::list: {
      auto list = Json::array();
      for (const auto item : value.items()) {
        auto inner = detail::to_json_value(item);
        if (!inner) return inner;
        list.push_back(std::move(*inner));
      }
      return list;
    }
    case cdi::Document::Kind::map: break;
  }
  Json::object_t object;
  for (const auto [key, member] : value.members()) {
    auto inner = detail::to_json_value(member);
    if (!inner) return inner;
    object.push_back({std::string{key.text()}, std::move(*inner)});
  }
  return Json(std::move(object));
}

}  // namespace detail

/// Reads a config from text. Rejects text that would change its meaning when written: text with
/// duplicate keys, or with numbers that fit neither 64 bits nor a double.
inline cdi::Result<Json> parse_config(std::string_view text, std::string_view path) {
  const auto parsed = cdi::parse_json(text, path);
  if (!parsed) return parsed.error();
  auto value = detail::to_json_value(parsed->root());
  if (!value) value.error().position.file = path;
  return value;
}

/// Reads all of standard input.
inline cdi::Result<std::string> read_standard_input() {
  return cdi::read_all(STDIN_FILENO, "standard input", cdi::Limits{}.bytes);
}

#endif  // CDI_TOOLS_CDI_BASE_CONFIG_FILE_HPP
