// Injects devices that a policy allows, and prints the log: enforce POLICY DIRECTORY NAME...
// The config.json is read from standard input.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/host.hpp>
#include <cdi/policy.hpp>
#include <cdi/scan.hpp>

namespace {

cdi::Result<void> inject(const cdi::Policy& policy, const cdi::Registry& registry,
                         const std::vector<std::string>& names, cdi::ConfigJson& config) {
  const auto devices = registry.resolve_all(names);
  if (!devices) return devices.error();
  const auto decisions = cdi::decide(policy, *devices, cdi::RequestOrigin::command_line);
  std::cerr << cdi::write_decisions(decisions) << '\n';
  if (auto allowed = cdi::require_allowed(decisions); !allowed) return allowed;

  const cdi::HostWithOptions<> host{{.hook_env = {std::string{cdi::explicit_hook_path}}}};
  return registry.inject_resolved(config, *devices, host);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: enforce POLICY DIRECTORY NAME... < config.json\n";
    return 2;
  }
  std::ifstream file{argv[1]};
  if (!file) {
    std::cerr << argv[1] << " cannot be read\n";
    return 1;
  }
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto policy = cdi::read_policy(text, argv[1]);
  if (!policy) {
    std::cerr << to_string(policy.error()) << '\n';
    return 1;
  }
  cdi::ConfigJson config{{std::istreambuf_iterator<char>{std::cin}, {}}};
  const auto registry = cdi::scan_spec_dirs({argv[2]});
  const auto done = inject(*policy, *registry, {argv + 3, argv + argc}, config);
  if (!done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  std::cout << config.text;
}
