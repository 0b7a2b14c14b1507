// Injects devices from specs in memory, and skips names that do not resolve: in_memory NAME...
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <string>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/spec_text.hpp>

constexpr auto gpus = R"(
cdiVersion: 1.0.0
kind: vendor.com/gpu
devices:
- {name: "0", containerEdits: {env: [GPU=0]}}
- {name: "1", containerEdits: {env: [GPU=1]}}
)";
constexpr auto site = R"({"cdiVersion": "1.0.0", "kind": "vendor.com/gpu", "devices": [
    {"name": "0", "containerEdits": {"env": ["GPU=0", "SITE=1"]}}]})";

int main(int argc, char** argv) {
  const auto registry = cdi::make_registry(
      {{.name = "gpus", .text = gpus}, {.name = "site", .text = site, .priority = 1}});
  for (const auto& error : registry.errors()) std::cerr << to_string(error) << '\n';

  const std::vector<std::string> names(argv + 1, argv + argc);
  cdi::ConfigJson config{R"({"ociVersion": "1.2.0"})"};
  const auto done = registry.inject_resolved(config, registry.resolvable(names));
  if (!done) {  // a device resolves, but cannot be injected
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  for (const auto& one : registry.unresolved(names))
    std::cerr << "skipped: " << to_string(one.why) << '\n';
  std::cout << config.text << '\n';
}
