// The findings about the IOMMU and SELinux.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/kernel.hpp"

#include <doctest/doctest.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("IOMMU on or off") {
  const Host host;
  CHECK(is_only(diagnose(host), "IOMMU", Level::note, {"off", "intel_iommu=on"}));
  host.make("sys/kernel/iommu_groups/0");
  host.make("sys/kernel/iommu_groups/1");
  CHECK(is_only(diagnose(host), "IOMMU", Level::good, {"groups: 2"}));
}

TEST_CASE("GPUs that share an IOMMU group") {
  const Host host;
  auto found = inventory();
  found.gpus[0].iommu_group = "42";
  Inventory other{.kind = "vfio.local/gpu"};
  other.gpus.push_back({.vendor = "amd", .pci_address = "0000:18:00.0", .iommu_group = "43"});
  CHECK(about(diagnose(host, {found, other}), "IOMMU group 42").empty());
  other.gpus[0].iommu_group = "42";
  CHECK(is_only(diagnose(host, {found, other}), "IOMMU group 42", Level::note,
                {"2 devices", "0000:17:00.0"}));
}

TEST_CASE("SELinux") {
  const Host host;
  CHECK(about(diagnose(host), "SELinux").empty());
  host.put("sys/fs/selinux/enforce", "0");
  CHECK(about(diagnose(host), "SELinux").empty());
  host.put("sys/fs/selinux/enforce", "1");
  CHECK(is_only(diagnose(host), "SELinux", Level::note, {"unknown", "setsebool"}));
  host.put("sys/fs/selinux/booleans/container_use_devices", "0 0");
  CHECK(is_only(diagnose(host), "SELinux", Level::note, {"is off", "container_use_devices 1"}));
  host.put("sys/fs/selinux/booleans/container_use_devices", "1 1");
  CHECK(is_only(diagnose(host), "SELinux", Level::good, {}));
}
