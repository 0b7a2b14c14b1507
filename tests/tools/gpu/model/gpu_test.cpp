// The model of GPUs: its shares, counts, and when a kind is ready.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/model/gpu.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace prepare;

namespace {

using Texts = std::vector<std::string>;

/// The text of the reason; empty when the kind is ready.
std::string reason(const Inventory& found, Profiles profiles = all_profiles) {
  const auto problem = reason_not_ready(found, profiles);
  return problem ? problem->text : "";
}

}  // namespace

TEST_CASE("the shares of a GPU are the partitions, or the whole, without copies") {
  Gpu gpu{.id = "GPU-1", .index = 2};
  REQUIRE(gpu.shares().size() == 1);
  CHECK(gpu.shares().data() == &gpu.whole);
  CHECK(gpu.other_names(gpu.whole) == Texts{"2"});
  gpu.partitions = {{.suffix = ":gi1:ci0"}, {.suffix = ":gi2:ci0"}};
  REQUIRE(gpu.shares().size() == 2);
  CHECK(gpu.shares().data() == gpu.partitions.data());
  CHECK(gpu.other_names(gpu.partitions[1]) == Texts{"2:gi2:ci0"});
}

TEST_CASE("a kind that is not ready has nothing usable") {
  Inventory found{.gpus = {Gpu{}, Gpu{}}};
  found.gpus[1].partitions = {{}, {.left_out = Problem{Fault::mig_node, "x"}}};
  CHECK(found.total_count() == 3);
  CHECK(found.usable_count() == 2);
  found.not_ready = Problem{Fault::nvidiactl_node, "no control"};
  CHECK(found.usable_count() == 0);
  CHECK(reason(found) == "no control");
}

TEST_CASE("a missing node counts for the profiles that need it") {
  Inventory found{.gpus = {Gpu{}}};
  found.missing = {{{Fault::modeset_module, "no modeset"}, graphics}};
  CHECK(reason(found, graphics) == "no modeset");
  CHECK(reason(found, all_profiles).empty());  // a server without a screen has no such node
  found.missing.push_back({{Fault::uvm_module, "no uvm"}, compute | video});
  CHECK(reason(found, all_profiles) == "no uvm");
  CHECK(reason(found, video) == "no uvm");
}

TEST_CASE("an id of two GPUs names none of them") {
  Inventory found{.gpus = {Gpu{.id = "a", .pci_address = "1"}, Gpu{.id = "b", .pci_address = "2"},
                           Gpu{.id = "a", .pci_address = "3"}}};
  drop_shared_ids(found, "UUID");
  CHECK(found.gpus[0].stable_name() == "1");
  CHECK(found.gpus[1].stable_name() == "b");
  CHECK(found.gpus[2].stable_name() == "3");
  REQUIRE(found.warnings.size() == 2);
  CHECK(found.warnings[0].fault == Fault::shared_id);
  CHECK(found.warnings[0].text == "1: another GPU has the same UUID, a");
}

TEST_CASE("the place of a GPU is its address, its id or its first node") {
  Gpu gpu;
  CHECK(gpu.place().empty());
  gpu.whole.nodes.emplace_back();
  gpu.whole.nodes.back().path = "/dev/npu0";
  CHECK(gpu.place() == "/dev/npu0");
  gpu.id = "SN1";
  CHECK(gpu.place() == "SN1");
  gpu.pci_address = "0000:01:00.0";
  CHECK(gpu.place() == "0000:01:00.0");
}

TEST_CASE("a fault that lasts is no reason to wait") {
  Inventory found{.gpus = {Gpu{}, Gpu{}}};
  found.gpus[0].whole.left_out = Problem{Fault::excluded_by_driver, "excluded"};
  found.gpus[1].whole.left_out = Problem{Fault::driver_silent, "silent"};
  CHECK(reason(found) == "silent");
  found.gpus.pop_back();
  CHECK(reason(found).empty());
}
