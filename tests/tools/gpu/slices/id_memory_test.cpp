// The ids of GPUs whose driver does not report them now.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/slices/id_memory.hpp"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

struct TwoGpus {
  TwoGpus() : survey{.tree = host.tree()} {
    Gpu first{.id = "GPU-1", .pci_address = "0000:01:00.0", .pci_id = "10de:20b5"};
    Gpu second{.id = "GPU-2", .pci_address = "0000:02:00.0", .pci_id = "10de:20b5"};
    survey.inventories.push_back({.kind = "nvidia.com/gpu", .gpus = {first, second}});
  }

  /// The second GPU as it is when its driver is silent.
  Gpu& fail() {
    auto& gpu = survey.inventories[0].gpus[1];
    gpu.id.clear();
    gpu.whole.left_out = Problem{Fault::driver_silent, "it does not answer"};
    return gpu;
  }

  MadeUpHost host{};
  Survey survey;
  IdMemory memory{};
};

}  // namespace

TEST_CASE("a GPU that fails keeps its id") {
  TwoGpus now;
  now.memory.complete(now.survey);
  auto& gpu = now.fail();
  now.memory.complete(now.survey);
  CHECK(gpu.id == "GPU-2");
}

TEST_CASE("a failing GPU without a known id, and another one at its place, have none") {
  TwoGpus now;
  now.fail();
  now.memory.complete(now.survey);
  auto& gpu = now.survey.inventories[0].gpus[1];
  CHECK(gpu.id.empty());
  gpu.id = "GPU-2";
  now.memory.complete(now.survey);
  now.fail().pci_id = "10de:2330";
  now.memory.complete(now.survey);
  CHECK(gpu.id.empty());
}

TEST_CASE("an id that moved to another place is not given twice") {
  TwoGpus now;
  now.memory.complete(now.survey);
  now.fail();
  now.survey.inventories[0].gpus[0].id = "GPU-2";
  now.memory.complete(now.survey);
  CHECK(now.survey.inventories[0].gpus[1].id.empty());
}

TEST_CASE("a usable GPU without an id stays without one") {
  TwoGpus now;
  now.memory.complete(now.survey);
  now.survey.inventories[0].gpus[1].id.clear();
  now.memory.complete(now.survey);
  CHECK(now.survey.inventories[0].gpus[1].id.empty());
}

TEST_CASE("a device without a PCI address is left as it is") {
  TwoGpus now;
  for (auto& gpu : now.survey.inventories[0].gpus) gpu.pci_address.clear();
  now.memory.complete(now.survey);
  CHECK(now.fail().id.empty());
  now.memory.complete(now.survey);
  CHECK(now.survey.inventories[0].gpus[1].id.empty());
}
