// Finds the GPUs that this process can open.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "gpu.hpp"

// For callers in a container or without privileges. Opening a GPU's node may wake the GPU, so no
// other code opens nodes.

namespace prepare {

/// Removes the nodes that this process may not open. Returns whether the rest is usable, that is,
/// no node that all profiles need was removed.
inline bool keep_visible(const tools::HostTree& tree, std::vector<Node>& nodes) {
  const auto is_hidden = [&](const Node& node) {
    return node.is_on_host && !tree.may_open(node);
  };
  const bool useful = std::none_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.profiles == all_profiles && is_hidden(node);
  });
  std::erase_if(nodes, is_hidden);
  return useful;
}

/// Removes the parts of a GPU that this process may not open. Returns whether any part is left.
inline bool keep_visible(const tools::HostTree& tree, Gpu& gpu) {
  if (!keep_visible(tree, gpu.iommufd_nodes)) gpu.iommufd_nodes.clear();
  if (gpu.partitions.empty()) return keep_visible(tree, gpu.whole.nodes);
  std::vector<Share> visible;
  for (auto& share : gpu.partitions) {
    if (keep_visible(tree, share.nodes)) visible.push_back(std::move(share));
  }
  gpu.partitions = std::move(visible);
  return !gpu.partitions.empty();
}

/// Removes the GPUs that this process may not open, as if the host did not have them. Returns their
/// number.
inline std::size_t keep_visible(const tools::HostTree& tree, std::vector<Inventory>& inventories) {
  std::size_t hidden = 0;
  for (auto& found : inventories) {
    const bool usable = keep_visible(tree, found.control_nodes);
    std::vector<Gpu> visible;
    for (auto& gpu : found.gpus) {
      if (usable && keep_visible(tree, gpu)) {
        visible.push_back(std::move(gpu));
      } else {
        ++hidden;
      }
    }
    found.gpus = std::move(visible);
  }
  std::erase_if(inventories, [](const Inventory& found) { return found.gpus.empty(); });
  return hidden;
}

}  // namespace prepare
