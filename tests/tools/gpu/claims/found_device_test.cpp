// The devices that claims ask for, in a survey.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/claims/found_device.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

/// A host whose GPU has one MIG instance of a size, which is empty when NVML was not asked.
struct MigHost {
  explicit MigHost(const std::string& size) : survey{.tree = host.tree()} {
    Gpu gpu{.id = "GPU-1", .mode = "MIG", .partitions = {{.suffix = ":gi1:ci0", .size = size}}};
    survey.inventories.push_back({.kind = "nvidia.com/gpu", .gpus = {std::move(gpu)}});
  }

  /// Why a claim no longer has the instance; empty when it has.
  std::string fault(const std::string& division) const {
    const auto found = find_again(survey, ClaimedGpu{.kind = "nvidia.com/gpu",
                                                     .name = "GPU-1:gi1:ci0",
                                                     .id = "GPU-1",
                                                     .suffix = ":gi1:ci0",
                                                     .division = division});
    return found ? "" : found.error().message;
  }

  MadeUpHost host{};
  Survey survey;
};

}  // namespace

TEST_CASE("a MIG instance of another size is another one") {
  const MigHost small{"1g.10gb"};
  CHECK(small.fault("1g.10gb").empty());
  CHECK(small.fault("2g.20gb").find("partitioned differently: it is 1g.10gb, not 2g.20gb") !=
        std::string::npos);
}

TEST_CASE("the message about a lost device says what brings it back") {
  MigHost mig{"1g.10gb"};
  CHECK(mig.fault("2g.20gb").ends_with(": restore the partitions, or unprepare the claim"));
  auto& gpu = mig.survey.inventories[0].gpus[0];
  gpu.partitions.clear();
  CHECK(mig.fault("1g.10gb").ends_with(
      "its GPU is now partitioned differently: restore the partitions, or unprepare the claim"));
  gpu.driver = "vfio-pci";
  mig.survey.inventories[0].kind = "vfio.local/gpu";
  gpu.pci_address = "0000:17:00.0";
  const auto by_address = find_again(
      mig.survey,
      ClaimedGpu{.kind = "nvidia.com/gpu", .name = "GPU-1", .pci_address = "0000:17:00.0"});
  REQUIRE_FALSE(by_address);
  CHECK(by_address.error().message.ends_with(
      ": bind it to its former driver, or unprepare the claim"));
  mig.survey.inventories.clear();
  CHECK(mig.fault("1g.10gb") ==
        "device GPU-1:gi1:ci0: it is gone from this host: put the device back, "
        "or unprepare the claim");
}

TEST_CASE("GPUs of one IOMMU group are bound together if both are passed through") {
  Gpu passed_through;
  passed_through.driver = "vfio-pci";
  passed_through.iommu_group = "7";
  Gpu other = passed_through;
  CHECK(are_bound_together(passed_through, other));
  other.driver = "amdgpu";
  CHECK_FALSE(are_bound_together(passed_through, other));
  CHECK_FALSE(are_bound_together(other, passed_through));
}

TEST_CASE("an unknown size does not differ from any") {
  CHECK(MigHost{"1g.10gb"}.fault("").empty());
  CHECK(MigHost{""}.fault("1g.10gb").empty());
}

TEST_CASE("a memory mode that is not known is equal to any") {
  CHECK(may_be_equal("CPX/NPS4", "CPX"));
  CHECK(may_be_equal("", "CPX"));
  CHECK_FALSE(may_be_equal("CPX/NPS4", "CPX/NPS1"));
  CHECK_FALSE(may_be_equal("CPX2", "CPX"));
}

TEST_CASE("a virtual function is bound together with its own GPU only") {
  const Gpu whole{.pci_address = "0000:03:00.0"};
  const Gpu part{.pci_address = "0000:03:00.1", .physical_function = "0000:03:00.0"};
  const Gpu other{.pci_address = "0000:04:00.0"};
  CHECK(are_bound_together(whole, part));
  CHECK(are_bound_together(part, whole));
  CHECK_FALSE(are_bound_together(part, other));
}

TEST_CASE("a device overlaps with the same part, and the whole with each part") {
  const MigHost mig{""};
  const auto whole = all_gpus(mig.survey).front();
  const auto device = devices_of(whole).front();
  CHECK(excludes(device, *whole.gpu, ":gi1:ci0"));
  CHECK(excludes(device, *whole.gpu, ""));
  CHECK_FALSE(excludes(device, *whole.gpu, ":gi2:ci0"));
  CHECK_FALSE(excludes(device, Gpu{}, ""));
}

TEST_CASE("a GPU is found again by its id, in its kind, and not by the place of another one") {
  MigHost mig{""};
  auto& gpu = mig.survey.inventories[0].gpus[0];
  gpu.partitions.clear();
  gpu.pci_address = "0000:17:00.0";
  gpu.pci_id = "10de:20b5";
  ClaimedGpu claimed{.kind = "nvidia.com/gpu",
                     .name = "GPU-1",
                     .id = "GPU-1",
                     .pci_address = "0000:17:00.0",
                     .pci_id = "10de:20b5"};
  const auto finds = [&] {
    return find_gpu(mig.survey, claimed).gpu == &gpu;
  };
  CHECK(finds());
  claimed.id = "GPU-2";
  CHECK_FALSE(finds());
  claimed.id.clear();
  CHECK(finds());
  claimed.pci_id = "10de:2330";
  CHECK_FALSE(finds());
  claimed.pci_address = "0000:18:00.0";
  CHECK_FALSE(finds());
  claimed.id = "GPU-1";
  claimed.kind = "vfio.local/gpu";
  CHECK_FALSE(finds());
}

TEST_CASE("a GPU that iommufd no longer has is reported so") {
  MigHost mig{""};
  mig.survey.inventories[0].gpus[0].partitions.clear();
  const auto found = find_again(
      mig.survey,
      ClaimedGpu{.kind = "nvidia.com/gpu", .name = "GPU-1", .id = "GPU-1", .by_iommufd = true});
  REQUIRE_FALSE(found);
  CHECK(found.error().message.ends_with(
      "iommufd has no node for its GPU now: enable iommufd, or unprepare the claim"));
}
