// All devices of a spec are injected into a config, here and by the Go reference, with the same
// result. An input is a config, a record separator, and a spec. The config is first read and
// written by the reference, so that it contains no unknown members. The nodes are those of the
// host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/registry.hpp>
#include <cdi/spec_text.hpp>

#include "fuzz.hpp"
#include "go_differences.hpp"
#include "go_peer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [config, spec] = fuzz::two_texts(fuzz::text_of(data, size));
  const auto loaded = cdi::parse_spec(spec, "s.yaml", cdi::Format::yaml);
  if (!loaded) return 0;
  const auto registry = cdi::make_registry({{.name = "s.yaml", .text = std::string{spec}}});
  const auto names = registry.devices();
  const auto answer = fuzz::go_peer().ask({"inject", config, spec});
  // go_spec compares which specs are accepted.
  if (!answer.contains("names") || answer.at("names") != fuzz::Json(names)) return 0;
  const auto theirs = fuzz::fault_of(answer);
  cdi::ConfigJson ours{answer.at("before").get<std::string>()};
  const auto done = registry.inject(ours, names, cdi::SystemHost{}, {.duplicates = true});
  const auto require_known = fuzz::require_known<fuzz::inject_differences, fuzz::SpecDifference>;
  if (done.has_value() != theirs.empty()) {
    require_known({loaded, theirs, spec}, "both inject, or neither", fuzz::fault_of(done) + theirs);
  } else if (done && fuzz::Json::parse(ours.text) != answer.at("after")) {
    require_known({loaded, theirs, spec}, "the results are the same",
                  ours.text + "\n" + answer.at("after").dump());
  }
  return 0;
}
