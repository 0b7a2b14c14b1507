// Selects kernel events about GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "../host/uevents.hpp"

// NVIDIA's nodes and MIG instances cause no events, because the driver keeps them out of sysfs.

namespace prepare {

/// Whether a kernel module is a GPU driver or part of one: `nvidia_uvm` is, `nvidiafb` is not.
inline bool is_gpu_module(std::string_view name) {
  constexpr std::string_view drivers[] = {
      "nvidia", "nouveau",   "nova",       "nvgrace_gpu", "amdgpu",  "amdxcp",     "radeon", "i915",
      "xe",     "intel_vpu", "habanalabs", "vfio",        "iommufd", "virtio_gpu", "dxgkrnl"};
  return std::any_of(std::begin(drivers), std::end(drivers), [&](std::string_view driver) {
    return name.starts_with(driver) && (name.size() == driver.size() || name[driver.size()] == '_');
  });
}

/// Whether an event may affect the GPUs or their nodes. Any PCI event may: passthrough of a GPU
/// depends on the drivers of all devices in its IOMMU group.
inline bool concerns_gpus(const Uevent& event) {
  const auto is_one_of = [](std::string_view text, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  const std::string_view subsystem = event.subsystem;
  if (subsystem == "module") return is_gpu_module(event.name());
  if (subsystem == "misc") {
    return is_one_of(event.name(), {"vfio", "iommu", "dxg"}) || event.name().starts_with("nvidia");
  }
  return is_one_of(subsystem, {"pci", "drm", "accel", "kfd", "vfio", "vfio-dev", "habanalabs"}) ||
         subsystem == "nvidia" || subsystem.starts_with("nvidia-");
}

/// Whether an event may affect a device of any vendor, whose subsystem may have any name. Leaves
/// out subsystems in which starting a container or a disk causes events.
inline bool concerns_any_device(const Uevent& event) {
  constexpr std::string_view others[] = {"net",    "queues",    "block",  "bdi", "cpu",
                                         "memory", "slab",      "cgroup", "tty", "vc",
                                         "mem",    "workqueue", "input"};
  if (concerns_gpus(event)) return true;
  return std::find(std::begin(others), std::end(others), event.subsystem) == std::end(others);
}

}  // namespace prepare
