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

/// Adds nodes to edits, each once, with the groups that a user needs to open those closed to
/// others.
inline void add_nodes(cdi::ContainerEdits& edits, const std::vector<Node>& nodes) {
  auto& gids = edits.additional_gids;
  for (const auto& node : nodes) {
    const auto same = [&](const cdi::DeviceNode& other) {
      return other.path == node.path;
    };
    if (std::any_of(edits.device_nodes.begin(), edits.device_nodes.end(), same)) continue;
    edits.device_nodes.push_back(device_node(node));
    constexpr std::uint32_t others_read_write = 06;
    const bool open_to_all = (node.mode & others_read_write) == others_read_write;
    if (!open_to_all && node.gid != 0) gids.push_back(node.gid);
  }
  std::sort(gids.begin(), gids.end());
  gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
}

/// The devices of a spec, in the order in which they are to stand there.
class DeviceList {
 public:
  /// Adds a device; of two with one name the first stays.
  void add(const std::string& name, const std::vector<Node>& nodes) {
    if (!taken_.insert(name).second) return;
    devices_.push_back({.name = name});
    add_nodes(devices_.back().container_edits, nodes);
  }

  std::vector<cdi::Device> take() { return std::move(devices_); }

 private:
  std::set<std::string> taken_{};
  std::vector<cdi::Device> devices_{};
};

/// The CDI spec of what can be handed out. Each stands there by its stable name, its index and its
/// aliases; "all" is all of them. The index counts every GPU of the vendor by PCI address, those
/// left out too: a GPU that drops out does not renumber the ones behind it.
inline cdi::Spec gpu_spec(const Inventory& found) {
  DeviceList devices;
  std::vector<std::pair<std::string, std::vector<Node>>> by_index;
  std::vector<std::pair<std::string, std::vector<Node>>> by_alias;
  std::vector<Node> all;
  for (const auto& gpu : found.gpus) {
    for (const auto& [suffix, nodes, left_out] : gpu.shares()) {
      if (left_out) continue;
      devices.add(gpu.stable_name() + suffix, nodes);
      if (gpu.index) by_index.emplace_back(std::to_string(*gpu.index) + suffix, nodes);
      for (const auto& alias : gpu.aliases) by_alias.emplace_back(alias + suffix, nodes);
      all.insert(all.end(), nodes.begin(), nodes.end());
    }
    if (gpu.left_out || gpu.iommufd_nodes.empty()) continue;
    by_alias.emplace_back(gpu.stable_name() + "-iommufd", gpu.iommufd_nodes);
  }
  for (const auto& [name, nodes] : by_index) devices.add(name, nodes);
  for (const auto& [name, nodes] : by_alias) devices.add(name, nodes);
  devices.add("all", all);

  cdi::Spec spec{.kind = found.kind, .devices = devices.take()};
  spec.container_edits.env = found.env;
  add_nodes(spec.container_edits, found.control_nodes);
  spec.version = cdi::to_string(cdi::minimum_version(spec));
  return spec;
}

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_SPEC_HPP
