// A config that `cdi` reads is the same after it is written. Its numbers have the same values, or,
// with at most 15 digits, are the same double.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "../../tools/cdi/base/config_file.hpp"
#include "fuzz.hpp"

namespace {

bool is_same_number(const std::string& a, const std::string& b) {
  const auto number = std::strtold(a.c_str(), nullptr);
  const auto other = std::strtold(b.c_str(), nullptr);
  const auto digits = fmt::format("{:.14e}", number);
  const bool is_short = std::strtold(digits.c_str(), nullptr) == number;
  return number == other ||
         (is_short && std::strtod(a.c_str(), nullptr) == std::strtod(b.c_str(), nullptr));
}

bool is_same(const cdi::AnyValue& a, const cdi::AnyValue& b) {
  const bool same_text =
      a.kind == cdi::ValueKind::number ? is_same_number(a.text, b.text) : a.text == b.text;
  return a.kind == b.kind && same_text &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const cdi::AnyMember& x, const cdi::AnyMember& y) {
                      return x.key == y.key && is_same(x.value, y.value);
                    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto config = parse_config(text, "config.json");
  if (!fuzz::is_read(config, text)) return 0;
  const auto written = config->dump(2);
  const auto before = cdi::parse_json(text);
  const auto after = cdi::parse_json(written);
  fuzz::require(
      before && after && is_same(fuzz::value_of(before->root()), fuzz::value_of(after->root())),
      "a config keeps its values", written);
  return 0;
}
