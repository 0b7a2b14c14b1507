// Prints the device nodes and mounts of devices, for a program without an OCI spec:
// plan DIRECTORY NAME...
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <string>
#include <vector>

#include <cdi/plan.hpp>
#include <cdi/scan.hpp>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: plan DIRECTORY NAME...\n";
    return 2;
  }
  const auto registry = cdi::scan_spec_dirs({argv[1]});
  const auto plan = cdi::plan(*registry, std::vector<std::string>{argv + 2, argv + argc});
  if (!plan) {
    std::cerr << to_string(plan.error()) << '\n';
    return 1;
  }
  for (const auto& [node, origin, overridden] : plan->device_nodes) {
    if (overridden) continue;
    std::cout << "mknod " << node.path << ' ' << node.type << ' ' << node.major << ' ' << node.minor
              << "  # " << to_string(origin) << '\n';
  }
  for (const auto& [mount, origin, overridden] : plan->mounts) {
    if (overridden) continue;
    std::cout << "mount --bind " << mount.host_path << ' ' << mount.container_path << "  # "
              << to_string(origin) << '\n';
  }
}
