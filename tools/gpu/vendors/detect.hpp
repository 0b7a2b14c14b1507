// Detection of the GPUs of all vendors on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"
#include "amd.hpp"
#include "driver_place.hpp"
#include "drm.hpp"
#include "intel.hpp"
#include "nvidia.hpp"
#include "nvidia_files.hpp"
#include "tegra.hpp"
#include "vfio.hpp"
#include "wsl.hpp"

namespace prepare {

/// Finds the GPUs of one vendor among the PCI functions of a host.
using Detector = Inventory (*)(const tools::HostTree&, const std::vector<PciFunction>&);

/// Where the nodes of a vendor's driver are.
enum class Nodes : std::uint8_t {
  of_host,
  of_nvidia,  // the dev root of NVIDIA's driver
};

/// The known vendors. A new vendor needs a header like amd.hpp, a row here, and a name in
/// `vendor_name` of model/pci.hpp, without which `drm::detect` would also find its GPUs; that
/// header contains shared functions.
inline constexpr std::pair<Detector, Nodes> detectors[] = {
    {&nvidia::detect, Nodes::of_nvidia},      // nvidia.com/gpu
    {&amd::detect, Nodes::of_host},           // amd.com/gpu
    {&intel::detect, Nodes::of_host},         // intel.com/gpu
    {&intel::detect_npus, Nodes::of_host},    // intel.com/npu
    {&intel::detect_gaudis, Nodes::of_host},  // intel.com/gaudi
    {&vfio::detect, Nodes::of_host},          // vfio.local/gpu: of any vendor
    {&wsl::detect, Nodes::of_host},           // nvidia.com/gpu, microsoft.com/gpu
    {&tegra::detect, Nodes::of_nvidia},       // nvidia.com/gpu
    {&drm::detect, Nodes::of_host},           // drm.local/gpu: all others
};

/// The kinds of the vendors above.
inline constexpr std::string_view own_kinds[] = {
    "nvidia.com/gpu",  "amd.com/gpu",    "intel.com/gpu",     "intel.com/npu",
    "intel.com/gaudi", "vfio.local/gpu", "microsoft.com/gpu", "drm.local/gpu",
};

/// The inventories of all vendors with a GPU on this host. A GPU with an unknown index gets none,
/// because a wrong index would be the name of another GPU. `nvidia` is the same tree with the dev
/// root of NVIDIA's driver.
inline std::vector<Inventory> detect(const tools::HostTree& tree, const tools::HostTree& nvidia,
                                     const PciBus& bus) {
  std::vector<Inventory> inventories;
  for (const auto& [detector, nodes] : detectors) {
    auto found = detector(nodes == Nodes::of_nvidia ? nvidia : tree, bus.functions);
    for (auto& gpu : found.gpus) {
      if (is_behind_unreadable(bus, gpu)) gpu.index.reset();
    }
    if (!found.gpus.empty()) inventories.push_back(std::move(found));
  }
  tegra::warn_of_left_out(tree, inventories);
  return inventories;
}

/// Marks a driver as not ready if the installed libraries have a different version: given a spec
/// without libraries, containers would start but could not use the GPU.
inline void hold_back_other_libraries(Inventory& found) {
  const auto other =
      std::find_if(found.warnings.begin(), found.warnings.end(),
                   [](const Problem& warning) { return warning.fault == Fault::other_libraries; });
  if (other == found.warnings.end()) return;
  found.not_ready = std::move(*other);
  found.warnings.erase(other);
}

/// Adds the driver files for the containers of an inventory. For other drivers, images contain the
/// libraries.
inline void add_driver_files(const tools::HostTree& tree, const DriverPlace& place,
                             Inventory& found) {
  if (found.usable_count() == 0) return;
  if (!found.library_directories.empty()) {
    found.files = wsl::driver_files(tree, found.library_directories);
  } else if (found.is_tegra) {
    found.files = tegra::driver_files(tree);
  } else if (found.kind == "nvidia.com/gpu" || found.is_management) {
    found.files = nvidia::driver_files(tree, found.driver_version, found.warnings, place);
    hold_back_other_libraries(found);
  }
}

}  // namespace prepare
