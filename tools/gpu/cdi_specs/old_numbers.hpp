// Nodes in a spec with outdated device numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <cdi/spec.hpp>

#include "../model/gpu.hpp"
#include "../model/node.hpp"

// A reloaded module may get another major, and the old major may now belong to another driver:
// containers must not get it.

namespace prepare {

/// The first node in edits whose numbers differ from the driver's, as text; nullopt if there is
/// none. A node without numbers takes the host's.
inline std::optional<std::string> renumbered(const cdi::ContainerEdits& edits,
                                             const std::vector<Node>& nodes) {
  for (const auto& node : edits.device_nodes) {
    if (node.major == 0) continue;
    const auto& path = node.host_path.empty() ? node.path : node.host_path;
    for (const auto& real : nodes) {
      if (real.place() != path || (real.major == node.major && real.minor == node.minor)) continue;
      return fmt::format("{} has numbers {}:{} there, and {}:{} now", path, node.major, node.minor,
                         real.major, real.minor);
    }
  }
  return std::nullopt;
}

/// Checks all edits of a spec against all nodes of a kind.
inline std::optional<std::string> renumbered(const cdi::Spec& spec, const Inventory& found) {
  auto nodes = found.control_nodes;
  for (const auto& missing : found.missing) {
    if (missing.real) nodes.push_back(*missing.real);
  }
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      nodes.insert(nodes.end(), share.nodes.begin(), share.nodes.end());
    }
  }
  if (auto fault = renumbered(spec.container_edits, nodes)) return fault;
  for (const auto& device : spec.devices) {
    if (auto fault = renumbered(device.container_edits, nodes)) return fault;
  }
  return std::nullopt;
}

}  // namespace prepare
