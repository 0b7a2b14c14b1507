// AMD GPUs, whole and in partitions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"

// The KFD topology contains a node for each compute GPU, or for each of its partitions. The driver
// also creates render nodes for unused partitions, so only render nodes in the topology are used.

namespace prepare::amd {

/// A GPU, or a partition of one, in the KFD topology.
struct KfdNode {
  std::uint32_t domain = 0;
  std::uint32_t location = 0;      // bus, device and function of the GPU, and the partition
  std::uint32_t render_minor = 0;  // of /dev/dri/renderD128: 128

  bool is_on(const PciFunction& function) const;

  /// The partition number. Newer kernels store it in the highest four bits of the location, older
  /// kernels instead of the PCI function.
  std::uint32_t partition(const PciFunction& function) const;

  /// Whether the render node belongs to the device in a sysfs directory.
  bool is_shown_by(const tools::HostTree& tree, const std::string& device_directory) const;
};

/// All GPUs and partitions in the topology that this process may see, sorted by render node.
std::vector<KfdNode> kfd_nodes(const tools::HostTree& tree);

/// The platform devices that the driver creates for all partitions but the first, by render node
/// minor: "amdgpu_xcp_0", or "amdgpu_xcp.0" in older kernels.
std::map<std::uint32_t, std::string> partition_devices(const tools::HostTree& tree);

/// The GPUs and partitions that compute on this host.
struct Topology {
  explicit Topology(const tools::HostTree& tree)
      : nodes{kfd_nodes(tree)}, partition_devices{amd::partition_devices(tree)} {}

  std::vector<KfdNode> nodes;
  std::map<std::uint32_t, std::string> partition_devices;
};

/// The partitions of a GPU; a GPU without partitions is its own only partition. Virtual functions
/// have the locations of partitions, but their own PCI devices.
std::vector<Share> shares(const tools::HostTree& tree, const Topology& topology,
                          const PciFunction& function, std::vector<Problem>& warnings);

/// Finds the AMD GPUs among `functions`.
Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions);

}  // namespace prepare::amd
