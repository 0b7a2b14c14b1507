// A config that `cdi inject -o yaml` prints has the same values as its JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <cdi/json.hpp>
#include <cdi/yaml.hpp>

#include "../../tools/kit/base/result_text.hpp"
#include "fuzz.hpp"

namespace {

bool is_same_number(const std::string& a, const std::string& b) {
  return std::strtold(a.c_str(), nullptr) == std::strtold(b.c_str(), nullptr);
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
  const auto written = tools::yaml_of_json(text, "config.json");
  if (!fuzz::is_read(written, text)) return 0;
  const auto before = cdi::parse_json(text);
  const auto after = cdi::parse_yaml(*written);
  fuzz::require(
      before && after && is_same(fuzz::value_of(before->root()), fuzz::value_of(after->root())),
      "a config keeps its values", *written);
  return 0;
}
