// The devices that annotations request are qualified names without duplicates; an annotation that
// is written for them requests the same devices; and a key that is written is found again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <cdi/annotations.hpp>

#include "fuzz.hpp"

namespace {

using Annotations = std::map<std::string, std::string>;

/// A key and a value from each pair of lines.
Annotations annotations_of(std::string_view text) {
  Annotations out;
  while (!text.empty()) {
    std::string lines[2];
    for (auto& line : lines) {
      const auto size = std::min(text.find('\n'), text.size());
      line = text.substr(0, size);
      text.remove_prefix(std::min(size + 1, text.size()));
    }
    out[lines[0]] = lines[1];
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto annotations = annotations_of(text);
  const auto parsed = cdi::parse_annotations(annotations);
  if (fuzz::is_read(parsed, text) && !parsed->devices.empty()) {
    const std::set<std::string> once{parsed->devices.begin(), parsed->devices.end()};
    fuzz::require(once.size() == parsed->devices.size(), "devices are not duplicated");
    Annotations made;
    const auto done = cdi::update_annotations(made, "plugin", "id", parsed->devices);
    fuzz::require(static_cast<bool>(done), "requested devices can be requested again");
    const auto again = cdi::parse_annotations(made);
    fuzz::require(again && again->devices == parsed->devices, "the same devices are requested");
  }
  for (const auto& [plugin, id] : annotations) {
    const auto key = cdi::annotation_key(plugin, id);
    if (!fuzz::is_read(key, text)) continue;
    const auto found = cdi::parse_annotations(Annotations{{*key, ""}});
    fuzz::require(found && found->keys.size() == 1, "a key that is written is found");
  }
  return 0;
}
