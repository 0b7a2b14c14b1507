// Injects into an OCI config as text, with bodies from the library.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <cdi/inject_json.hpp>
#include <cdi/spec_text.hpp>

#ifndef CDI_COMPILED
#error "the package must define CDI_COMPILED"
#endif
#ifdef NLOHMANN_JSON_VERSION_MAJOR
#error "only the library may include nlohmann_json"
#endif

int main() {
  const auto loaded = cdi::parse_spec(
      "{cdiVersion: 0.5.0, kind: v.com/c, devices: [{name: d, containerEdits: {env: [GPU=0]}}]}",
      "v.yaml", cdi::Format::yaml);
  const std::vector<std::string> dirs{"/nowhere/cdi"};
  std::string config = "{}";
  const auto done = cdi::inject_json(config, {"v.com/c=d"}, dirs);
  return loaded && !done && done.error().code == cdi::Errc::not_found && config == "{}" ? 0 : 1;
}
