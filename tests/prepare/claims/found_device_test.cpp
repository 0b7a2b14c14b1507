// The devices that claims ask for, in a survey.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/claims/found_device.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../support/made_up_host.hpp"

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
