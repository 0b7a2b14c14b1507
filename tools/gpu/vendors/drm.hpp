// GPUs of other vendors: all other PCI functions and platform devices with a render node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/name.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"

// The display controllers in servers have no render node.

namespace prepare::drm {

/// Whether a function is a GPU that no other detector finds.
inline bool is_other(const PciFunction& function) {
  return vendor_name(function.vendor) == "other" && !function.is_accelerator();
}

/// Whether a sysfs directory contains a DRM render node.
inline bool has_render_entry(const tools::HostTree& tree, const std::string& device_directory) {
  const auto names = tree.list(device_directory + "/drm");
  return std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return name.starts_with("renderD") && is_drm_node_name(name);
  });
}

/// The sysfs directory with the DRM nodes of a device: its own directory, or the directory of its
/// virtio device or of the `drm` device of a host1x (Tegra). Nullopt without a render node.
inline std::optional<std::string> drm_parent(const tools::HostTree& tree,
                                             const std::string& device) {
  std::vector<std::string> directories{device};
  for (const auto& name : tree.list(device)) {
    if (name.starts_with("virtio") || name == "drm") directories.push_back(device + "/" + name);
  }
  for (auto& directory : directories) {
    if (has_render_entry(tree, directory)) return std::move(directory);
  }
  return std::nullopt;
}

/// Whether a platform device is not a GPU although it may have DRM nodes: amdgpu's are partitions
/// of a PCI device, and vgem and vkms are software.
inline bool is_not_hardware(std::string_view name) {
  return name.starts_with("amdgpu_xcp") || name.starts_with("vgem") || name.starts_with("vkms");
}

/// The CDI device name for a platform device; "all" is reserved.
inline std::string platform_id(std::string_view name) {
  std::string id{name};
  std::replace_if(
      id.begin(), id.end(),
      [](char c) {
        return !cdi::is_device_name(std::string_view{&c, 1}) && c != '.' && c != '-';
      },
      '-');
  if (cdi::is_device_name(id) && id != "all") return id;
  return "gpu-" + id + "-0";
}

/// Adds a GPU with its DRM nodes.
inline void add_gpu(Inventory& found, Gpu gpu, std::vector<Node> nodes) {
  gpu.whole.nodes = std::move(nodes);
  gpu.whole.left_out = render_node_fault(gpu.whole.nodes);
  found.gpus.push_back(std::move(gpu));
}

/// Finds the GPUs of other vendors among `functions` and the platform devices.
inline Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "drm.local/gpu"};
  std::size_t count = 0;
  for (auto& [function, gpu] : candidates(functions, &is_other)) {
    const auto directory = drm_parent(tree, function.directory());
    if (!directory) continue;
    gpu.index = count++;
    auto nodes = drm_nodes(tree, *directory, found.warnings);
    set_by_path(nodes, "pci-" + function.address);
    add_gpu(found, std::move(gpu), std::move(nodes));
  }
  for (const auto& name : tree.list("/sys/bus/platform/devices")) {
    if (is_not_hardware(name)) continue;
    const auto directory = drm_parent(tree, "/sys/bus/platform/devices/" + name);
    if (!directory) continue;
    auto nodes = drm_nodes(tree, *directory, found.warnings);
    set_by_path(nodes, "platform-" + name);
    add_gpu(found,
            {.vendor = "other",
             .id = platform_id(name),
             .driver = tree.link_name(*directory + "/driver").value_or(""),
             .index = count++},
            std::move(nodes));
  }
  return found;
}

}  // namespace prepare::drm
