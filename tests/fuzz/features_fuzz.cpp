// The features of a runtime read back. The edits of a spec that the runtime does not implement have
// a place in the spec and a reason; a runtime that leaves all open implements them all. An input is
// the text of features, a record separator, and a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/json.hpp>
#include <cdi/registry.hpp>
#include <cdi/versions.hpp>

#include "fuzz.hpp"

namespace {

void check_edits(const cdi::oci::Features& features, const cdi::LoadedSpec& spec) {
  std::vector<cdi::ResolvedDevice> devices;
  for (const auto& device : spec.spec.devices) devices.push_back({&spec, &device});
  for (const auto& error : cdi::unsupported_edits(devices, features)) {
    fuzz::require(error.code == cdi::Errc::unsupported, "an edit is not supported");
    fuzz::require(cdi::detail::is_utf8(to_string(error)), "a message is UTF-8", error.message);
    fuzz::require(error.position.line == spec.locate(error.where).line,
                  "an edit has its place in the spec", to_string(error));
  }
  const cdi::oci::Features open{.oci_version_max = "1.3.0"};
  const auto none = cdi::unsupported_edits(devices, open);
  fuzz::require(none.empty(), "what is left open is not reported");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [text, spec] = fuzz::two_texts(fuzz::text_of(data, size));
  const auto features = cdi::read_json<cdi::oci::Features>(text, "features.json");
  if (!fuzz::is_read(features, text)) return 0;
  const auto written = cdi::write_json(*features);
  fuzz::require(written.has_value(), "features can be written", fuzz::fault_of(written));
  const auto again = cdi::read_json<cdi::oci::Features>(*written);
  fuzz::require(again && *again == *features, "features read back", *written);
  const auto loaded = cdi::parse_spec(spec, "s.yaml", cdi::Format::yaml);
  if (loaded) check_edits(*features, *loaded);
  return 0;
}
