// AMD GPUs, whole and in partitions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "amd.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"

namespace prepare::amd {

namespace {

constexpr std::uint32_t pci_vendor = 0x1002;

constexpr std::string_view render_prefix = "renderD";

constexpr std::string_view platform_devices = "/sys/bus/platform/devices";

constexpr std::string_view topology_nodes = "/sys/class/kfd/kfd/topology/nodes";

/// Parses a node from `name value` lines; nullopt for a CPU.
std::optional<KfdNode> parse_kfd_node(std::string_view properties) {
  std::map<std::string, std::uint32_t, std::less<>> values;
  for (const auto& row : tools::split(properties, "\n")) {
    const auto parts = tools::split(row, " ");
    if (parts.size() != 2) continue;
    if (const auto value = tools::parse_number<std::uint32_t>(parts[1])) values[parts[0]] = *value;
  }
  if (values["simd_count"] == 0 || values["drm_render_minor"] == 0) return std::nullopt;
  return KfdNode{.domain = values["domain"],
                 .location = values["location_id"],
                 .render_minor = values["drm_render_minor"]};
}

/// The driver's id of a GPU, 16 hexadecimal digits; empty if there is none.
std::string unique_id(const tools::HostTree& tree, const PciFunction& function) {
  const auto text = tree.line(function.directory() + "/unique_id");
  const auto number = tools::parse_number<std::uint64_t>(text, 16);
  return number && *number != 0 ? text : std::string{};
}

/// Fills in the driver's data about a GPU. Returns why the GPU cannot be handed out.
std::optional<Problem> examine(const tools::HostTree& tree, const Topology& topology,
                               Candidate& candidate, std::vector<Problem>& warnings) {
  auto& [function, gpu] = candidate;
  if (gpu.driver != "amdgpu") return bound_to(gpu.driver);
  gpu.id = unique_id(tree, function);
  gpu.model = tree.line(function.directory() + "/product_name");
  // During a reset or repartitioning the file cannot be read, and the nodes are incomplete.
  const auto compute = tree.read(function.directory() + "/current_compute_partition");
  if (!compute && compute.error().system != ENOENT) {
    return Problem{Fault::partitioning_unreadable, "its partitioning cannot be read; try again: " +
                                                       cdi::to_string(compute.error())};
  }
  const auto memory = tree.line(function.directory() + "/current_memory_partition");
  if (compute) gpu.mode = std::string{tools::trim(*compute)};
  const bool is_whole = gpu.mode.empty() || gpu.mode == "SPX";
  if (!memory.empty()) gpu.mode += "/" + memory;

  const Problem no_topology{Fault::no_kfd_topology, "KFD shows no topology node for it"};
  auto parts = shares(tree, topology, function, warnings);
  if (!is_whole || parts.size() > 1) {
    if (parts.empty()) return no_topology;
    gpu.partitions = std::move(parts);
    return std::nullopt;
  }
  if (parts.empty() && function.is_accelerator()) return no_topology;
  if (parts.empty()) {
    warnings.push_back({no_topology.fault, gpu.pci_address + ": no compute: " + no_topology.text});
  }
  gpu.whole.nodes = parts.empty() ? drm_nodes(tree, function, warnings) : parts.front().nodes;
  return render_node_fault(gpu.whole.nodes);
}

bool is_gpu(const PciFunction& function) {
  return function.vendor == pci_vendor;
}

}  // namespace

bool KfdNode::is_on(const PciFunction& function) const {
  const auto [pci_domain, bus, device, unused] = function.order;
  return domain == pci_domain && (location & 0xffff) >> 3 == (bus << 5 | device);
}

std::uint32_t KfdNode::partition(const PciFunction& function) const {
  return location >> 28 | ((location & 7) ^ function.order[3]);
}

bool KfdNode::is_shown_by(const tools::HostTree& tree, const std::string& device_directory) const {
  return tree.exists(fmt::format("{}/drm/{}{}", device_directory, render_prefix, render_minor));
}

std::vector<KfdNode> kfd_nodes(const tools::HostTree& tree) {
  std::vector<KfdNode> nodes;
  for (const auto& name : tree.list(topology_nodes)) {
    const auto properties = tree.read(fmt::format("{}/{}/properties", topology_nodes, name));
    if (!properties) continue;
    if (auto node = parse_kfd_node(*properties)) nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.render_minor < b.render_minor; });
  return nodes;
}

std::map<std::uint32_t, std::string> partition_devices(const tools::HostTree& tree) {
  std::map<std::uint32_t, std::string> devices;
  for (const auto& device : tree.list(platform_devices)) {
    if (!device.starts_with("amdgpu_xcp")) continue;
    for (const std::string_view name :
         tree.list(fmt::format("{}/{}/drm", platform_devices, device))) {
      if (!name.starts_with(render_prefix)) continue;
      const auto minor = tools::parse_number<std::uint32_t>(name.substr(render_prefix.size()));
      if (minor) devices.emplace(*minor, device);
    }
  }
  return devices;
}

std::vector<Share> shares(const tools::HostTree& tree, const Topology& topology,
                          const PciFunction& function, std::vector<Problem>& warnings) {
  std::vector<Share> own;
  for (const auto& node : topology.nodes) {
    if (!node.is_on(function)) continue;
    Share share{.suffix = "-p" + std::to_string(node.partition(function))};
    if (node.is_shown_by(tree, function.directory())) {
      share.nodes = drm_nodes(tree, function, warnings);
    } else {
      const auto device = topology.partition_devices.find(node.render_minor);
      if (device == topology.partition_devices.end()) continue;
      share.nodes =
          drm_nodes(tree, fmt::format("{}/{}", platform_devices, device->second), warnings);
      set_by_path(share.nodes, "platform-" + device->second);
    }
    share.left_out = render_node_fault(share.nodes);
    own.push_back(std::move(share));
  }
  return own;
}

Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "amd.com/gpu", .driver_version = tree.line("/sys/module/amdgpu/version")};
  const Topology topology{tree};
  for (auto& candidate : candidates(functions, &is_gpu)) {
    candidate.gpu.whole.left_out = examine(tree, topology, candidate, found.warnings);
    found.gpus.push_back(std::move(candidate.gpu));
  }
  drop_shared_ids(found, "unique id");
  if (found.usable_count() == 0 || topology.nodes.empty()) return found;
  auto kfd = sysfs_node(tree, "/sys/class/kfd/kfd", "/dev/kfd");
  if (kfd) {
    found.control_nodes.push_back(std::move(*kfd));
  } else {
    found.not_ready = Problem{Fault::kfd_node, kfd.error().message};
  }
  return found;
}

}  // namespace prepare::amd
