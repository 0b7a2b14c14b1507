// Injects a device of a YAML spec into a JSON document.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <cdi/cdi.hpp>
#include <cdi/nlohmann.hpp>

int main() {
  const auto loaded = cdi::parse_spec(
      "{cdiVersion: 0.5.0, kind: v.com/c, devices: [{name: d, containerEdits: {env: [GPU=0]}}]}",
      "v.yaml", cdi::Format::yaml);
  auto config = nlohmann::json::object();
  if (!loaded || !loaded->spec.devices[0].container_edits.apply(config)) return 1;
  return config["process"]["env"][0] == "GPU=0" ? 0 : 1;
}
