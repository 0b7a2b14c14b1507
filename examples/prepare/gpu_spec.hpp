// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_SPEC_HPP
#define CDI_PREPARE_GPU_SPEC_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/fields.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/spec.hpp>

#include "gpu.hpp"

namespace prepare {

/// The node in full: without its numbers a runtime would ask the host again, with half of them it
/// would keep a major that changes at each boot.
inline cdi::DeviceNode device_node(const Node& node) {
  return {.path = node.path,
          .type = std::string(1, node.type),
          .major = node.major,
          .minor = node.minor,
          .file_mode = node.mode,
          .permissions = "rwm",
          .gid = node.gid != 0 ? std::optional{node.gid} : std::nullopt};
}

/// Adds nodes to edits, with the groups that a user needs to open those closed to others.
inline void add_nodes(cdi::ContainerEdits& edits, const std::vector<Node>& nodes) {
  auto& gids = edits.additional_gids;
  for (const auto& node : nodes) {
    edits.device_nodes.push_back(device_node(node));
    constexpr std::uint32_t others_read_write = 06;
    const bool open_to_all = (node.mode & others_read_write) == others_read_write;
    if (!open_to_all && node.gid != 0) gids.push_back(node.gid);
  }
  std::sort(gids.begin(), gids.end());
  gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
}

/// The CDI spec of the GPUs that can be handed out. Each stands there by its stable name and by its
/// index; "all" is all of them. The index counts every GPU of the vendor by PCI address, those left
/// out too: a GPU that drops out does not renumber the ones behind it.
inline cdi::Spec gpu_spec(const Inventory& found) {
  cdi::Spec spec{.kind = found.kind};
  spec.container_edits.env = found.env;
  add_nodes(spec.container_edits, found.control_nodes);

  std::set<std::string> taken;
  const auto add = [&](const std::string& name, const cdi::ContainerEdits& edits) {
    if (taken.insert(name).second) spec.devices.push_back({.name = name, .container_edits = edits});
  };
  cdi::ContainerEdits all;
  std::vector<std::pair<std::string, cdi::ContainerEdits>> by_index;
  for (const auto& gpu : found.gpus) {
    if (gpu.left_out) continue;
    cdi::ContainerEdits edits;
    add_nodes(edits, gpu.nodes);
    add_nodes(all, gpu.nodes);
    add(gpu.stable_name(), edits);
    by_index.emplace_back(std::to_string(gpu.index), std::move(edits));
  }
  for (const auto& [name, edits] : by_index) add(name, edits);
  add("all", all);

  spec.version = cdi::to_string(cdi::minimum_version(spec));
  return spec;
}

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_SPEC_HPP
