// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_HPP
#define CDI_PREPARE_GPU_HPP

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host_tree.hpp"

// What detection finds, in the same form for every vendor.

namespace prepare {

/// A GPU of the host, whether or not it can be handed to a container.
struct Gpu {
  std::string vendor{};       // "nvidia"
  std::string id{};           // the vendor's own, the same after each reboot; empty when unknown
  std::string model{};        // empty when unknown
  std::string pci_address{};  // "0000:17:00.0"
  std::string driver{};       // bound to it; empty for none
  std::optional<int> numa_node{};
  std::size_t index = 0;                  // place among all GPUs of the vendor, by PCI address
  std::vector<Node> nodes{};              // checked against what the kernel says they should be
  std::optional<std::string> left_out{};  // why it cannot be handed out

  /// The name that stays: the vendor's id, else the PCI address.
  const std::string& stable_name() const { return id.empty() ? pci_address : id; }
};

/// The GPUs of one vendor, and what their containers share.
struct Inventory {
  std::string kind{};  // of the CDI devices: "nvidia.com/gpu"
  std::string driver_version{};
  std::vector<Gpu> gpus{};            // by PCI address
  std::vector<Node> control_nodes{};  // every container with a GPU needs them
  std::vector<std::string> env{};     // likewise
  std::vector<std::string> warnings{};
  std::optional<std::string> not_ready{};  // why no GPU works although some look well

  /// How many of the GPUs can be handed out.
  std::size_t usable_count() const {
    if (not_ready) return 0;
    return static_cast<std::size_t>(
        std::count_if(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return !gpu.left_out; }));
  }
};

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_HPP
