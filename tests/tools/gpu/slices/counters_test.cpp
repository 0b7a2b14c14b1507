// Counters of GPUs whose devices exclude each other.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/slices/counters.hpp"

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

/// The counters of the only GPU of a host, and its devices.
struct CountedGpu {
  explicit CountedGpu(Gpu gpu) : survey{.tree = host.tree()} {
    survey.inventories.push_back({.kind = "vfio.local/gpu", .gpus = {std::move(gpu)}});
  }

  GpuCounters counters() const { return GpuCounters{all_gpus(survey).front()}; }

  MadeUpHost host{};
  Survey survey;
};

/// The names and values of counters.
std::string text_of(const kubernetes::SliceValues& values) {
  std::string out;
  for (const auto& [name, value] : values) out += name + "=" + value.value + " ";
  return out;
}

}  // namespace

TEST_CASE("a GPU that one device hands out needs no counter") {
  CHECK_FALSE(CountedGpu{{.pci_address = "0000:65:00.0"}}.counters());
  const Gpu divided{.id = "GPU-1", .partitions = {{.suffix = ":gi1:ci0"}, {.suffix = ":gi2:ci0"}}};
  CHECK_FALSE(CountedGpu{divided}.counters());
}

TEST_CASE("two ways to one GPU consume the same counter") {
  const CountedGpu gpu{
      {.pci_address = "0000:65:00.0", .iommufd_nodes = {{{.path = "/dev/vfio/devices/vfio0"}}}}};
  const auto counters = gpu.counters();
  REQUIRE(counters);
  CHECK(text_of(counters.shared().counters) == "whole=1 ");
  for (const auto& device : all_devices(gpu.survey)) {
    CHECK(text_of(counters.consumed_by(device).at(0).counters) == "whole=1 ");
  }
}
