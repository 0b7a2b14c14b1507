// Annotations request the same devices here and in the Go reference, and are written the same. Each
// pair of lines of an input is a key and a value, a plugin and an id, and two devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "go_tables.hpp"

namespace {

constexpr auto require_same_row = fuzz::require_same_row<fuzz::annotation_differences>;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto size = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  if (out.size() % 2 == 1) out.emplace_back();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto lines = lines_of(fuzz::text_of(data, size));
  fuzz::Json annotations = fuzz::Json::object();
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    annotations[std::string{lines[i]}] = lines[i + 1];
  }
  require_same_row("parse_annotations", {{"in", annotations}}, lines);
  if (lines.empty()) return 0;
  require_same_row("annotation_key", {{"plugin", lines[0]}, {"device_id", lines[1]}},
                   {lines[0], lines[1]});
  const std::vector<std::string_view> devices{lines.begin() + 2, lines.end()};
  const fuzz::Json update{{"in", fuzz::Json::object()},
                          {"plugin", lines[0]},
                          {"device_id", lines[1]},
                          {"devices", devices}};
  require_same_row("update_annotations", update, lines);
  require_same_row("annotation_value", {{"devices", lines}}, lines);
  return 0;
}
