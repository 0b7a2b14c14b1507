// Finds GPUs of any vendor that are reserved for virtual machines.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"

// Such a GPU has two interfaces: the node of its IOMMU group, or with iommufd a node for each
// function. For both, no device in the group may be bound to a host driver. Node names contain
// numbers that change, so only the PCI address serves as a name.

namespace prepare::vfio {

/// Whether a device may have this driver while another device in its IOMMU group is passed through.
inline bool leaves_group_viable(std::string_view driver) {
  return driver.empty() || driver == "pci-stub" || driver == "pcieport" ||
         driver.find("vfio") != std::string_view::npos;
}

/// Why no device in an IOMMU group can be passed through.
inline std::optional<Problem> group_fault(const tools::HostTree& tree, const std::string& group) {
  const auto members = fmt::format("/sys/kernel/iommu_groups/{}/devices", group);
  for (const auto& member : tree.list(members)) {
    const auto driver = tree.link_name(fmt::format("{}/{}/driver", members, member)).value_or("");
    if (leaves_group_viable(driver)) continue;
    return Problem{
        Fault::iommu_group,
        fmt::format("IOMMU group {} is not viable: {} is bound to {}", group, member, driver)};
  }
  return std::nullopt;
}

/// The node of a group and VFIO's own node, or why they cannot be used.
inline cdi::Result<std::vector<Node>> group_nodes(const tools::HostTree& tree,
                                                  std::string_view group) {
  // Without an IOMMU, the name has a prefix.
  for (const std::string_view prefix : {"", "noiommu-"}) {
    const auto name = fmt::format("{}{}", prefix, group);
    if (!tree.exists("/sys/class/vfio/" + name)) continue;
    auto node = sysfs_node(tree, "/sys/class/vfio/" + name, "/dev/vfio/" + name);
    if (!node) return node.error();
    auto container = sysfs_node(tree, "/sys/class/misc/vfio", "/dev/vfio/vfio");
    if (!container) return container.error();
    return std::vector<Node>{std::move(*node), std::move(*container)};
  }
  return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("VFIO has no group {}", group)};
}

/// All functions of a card whose first function is `function`: a card may also have functions for
/// sound and USB.
inline std::vector<std::string> functions_of_card(const tools::HostTree& tree,
                                                  const PciFunction& function) {
  std::vector<std::string> addresses{function.address};
  const auto slot = function.address.substr(0, function.address.size() - 1);
  const auto members = fmt::format("/sys/kernel/iommu_groups/{}/devices", function.iommu_group);
  for (const auto& member : tree.list(members)) {
    if (member != function.address && member.starts_with(slot)) addresses.push_back(member);
  }
  return addresses;
}

/// The iommufd nodes for the card of a GPU, or why they cannot be used.
inline cdi::Result<std::vector<Node>> iommufd_nodes(const tools::HostTree& tree,
                                                    const PciFunction& function) {
  std::vector<Node> nodes;
  for (const auto& address : functions_of_card(tree, function)) {
    const auto directory = fmt::format("/sys/bus/pci/devices/{}/vfio-dev", address);
    for (const auto& name : tree.list(directory)) {
      auto node = sysfs_node(tree, directory + "/" + name, "/dev/vfio/devices/" + name);
      if (!node) return node.error();
      nodes.push_back(std::move(*node));
    }
    if (nodes.empty()) {
      return cdi::Error{.code = cdi::Errc::host, .message = "VFIO has no node for the device"};
    }
  }
  auto control = sysfs_node(tree, "/sys/class/misc/iommu", "/dev/iommu");
  if (!control) return control.error();
  nodes.push_back(std::move(*control));
  return nodes;
}

/// Fills in the nodes of a GPU. Returns why the GPU cannot be handed out.
inline std::optional<Problem> examine(const tools::HostTree& tree, const PciFunction& function,
                                      Gpu& gpu) {
  if (auto fault = group_fault(tree, function.iommu_group)) return fault;
  auto by_group = group_nodes(tree, function.iommu_group);
  auto by_iommufd = iommufd_nodes(tree, function);
  if (!by_group && !by_iommufd) {
    return Problem{Fault::vfio_node, fmt::format("{}; with iommufd: {}", by_group.error().message,
                                                 by_iommufd.error().message)};
  }
  if (by_iommufd) gpu.iommufd_nodes = std::move(*by_iommufd);
  gpu.whole.nodes = by_group ? std::move(*by_group) : gpu.iommufd_nodes;
  return std::nullopt;
}

/// Finds the passed-through GPUs among `functions`. They have no index, because GPUs are bound and
/// unbound while the host runs.
inline Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "vfio.local/gpu"};
  for (const auto& function : functions) {
    if (!function.is_passed_through()) continue;
    auto gpu = gpu_on_bus(function);
    gpu.whole.left_out = examine(tree, function, gpu);
    found.gpus.push_back(std::move(gpu));
  }
  return found;
}

}  // namespace prepare::vfio
