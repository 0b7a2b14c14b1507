// This library and the Go reference accept the same specs, and read the same members, except
// for known differences. A crash of the reference counts as a rejection.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/file.hpp>
#include <cdi/json.hpp>

#include "fuzz.hpp"
#include "go_differences.hpp"
#include "go_peer.hpp"

namespace {

using fuzz::Json;

/// A value without members that are empty, which Go does not write.
Json without_empty(const Json& value) {
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items()) {
    Json kept = without_empty(member);
    if (value.is_array()) {
      out.push_back(std::move(kept));
    } else if (!kept.is_null() && kept != "" && kept != Json::array() && kept != Json::object()) {
      out[key] = std::move(kept);
    }
  }
  return out;
}

void check(std::string_view text, cdi::Format format, const Json& answer) {
  const auto loaded = cdi::parse_spec(text, "f", format);
  const auto theirs = fuzz::fault_of(answer);
  const auto require_known = fuzz::require_known<fuzz::spec_differences, fuzz::SpecDifference>;
  if (loaded.has_value() != theirs.empty()) {
    return require_known({loaded, theirs, text}, "both accept a spec, or neither",
                         fuzz::fault_of(loaded) + theirs);
  }
  if (!loaded) return;
  cdi::JsonTextSink sink;
  cdi::write(loaded->spec, sink);
  const auto ours = without_empty(Json::parse(std::move(sink).take()));
  const auto same = without_empty(answer.at("spec"));
  if (ours == same) return;
  require_known({loaded, theirs, text}, "both read the same", ours.dump() + "\n" + same.dump());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto answer = fuzz::go_peer().ask({"spec", text});
  check(text, cdi::Format::yaml, answer);
  if (text.starts_with('{')) check(text, cdi::Format::json, answer);
  return 0;
}
