// Checks kernel features that restrict devices: the IOMMU and SELinux.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/model/gpu.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare::doctor {

inline void check_iommu(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                        Findings& findings) {
  const auto groups = tree.list("/sys/kernel/iommu_groups").size();
  if (groups == 0) {
    findings.push_back({Level::note, "IOMMU", "off: no device can be passed to a virtual machine",
                        "To pass one, enable the IOMMU in the firmware and on the kernel "
                        "command line (intel_iommu=on; AMD's is on)."});
  } else {
    findings.push_back({Level::good, "IOMMU", fmt::format("on, groups: {}", groups), {}});
  }
  std::map<std::string, std::set<std::string>> members;
  for (const auto& found : inventories) {
    for (const auto& gpu : found.gpus) {
      if (!gpu.iommu_group.empty()) members[gpu.iommu_group].insert(gpu.pci_address);
    }
  }
  for (const auto& [group, gpus] : members) {
    if (gpus.size() < 2) continue;
    findings.push_back({Level::note, "IOMMU group " + group,
                        fmt::format("has {} devices (the first is {}): they can only be passed to "
                                    "a virtual machine together",
                                    gpus.size(), *gpus.begin()),
                        "Move one to another slot, or enable ACS in the firmware."});
  }
}

inline void check_selinux(const tools::HostTree& tree, Findings& findings) {
  if (tree.line("/sys/fs/selinux/enforce") != "1") return;
  const auto now = tree.line("/sys/fs/selinux/booleans/container_use_devices");
  if (now.starts_with('1')) {
    findings.push_back({Level::good, "SELinux", "lets containers use devices", {}});
    return;
  }
  findings.push_back(
      {Level::note, "SELinux",
       now.empty() ? "enforcing; whether containers may use devices is unknown"
                   : "enforcing, and container_use_devices is off",
       "If containers are denied access to a node (ausearch -m avc; ls -Z /dev/dri): "
       "setsebool -P container_use_devices 1."});
}

}  // namespace prepare::doctor
