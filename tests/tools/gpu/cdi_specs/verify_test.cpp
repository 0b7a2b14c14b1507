// The last check of the paths of a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/cdi_specs/verify.hpp"

#include <string>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

namespace {

constexpr const char* device_table =
    "/dev/a c 10 0 0666 0 0\n"
    "/dev/b b 8 1 0660 0 6\n";

/// A host with two nodes.
struct NodeHost {
  NodeHost() { put_file(dir / "dev.tab", device_table); }

  tools::HostTree tree() const { return *tools::HostTree::open(dir.path()); }

  TempTree dir{};
};

cdi::Device device(const std::string& name, cdi::DeviceNode node) {
  cdi::Device out{.name = name};
  out.container_edits.device_nodes.push_back(std::move(node));
  return out;
}

}  // namespace

TEST_CASE("A device that cannot be had is left out, the rest stays") {
  const NodeHost host;
  cdi::Spec spec{.kind = "vendor.com/gpu"};
  spec.devices = {device("good", {.path = "/dev/a"}), device("bad", {.path = "/dev/x"}),
                  device("fine", {.path = "/dev/b"})};
  const auto left_out = prepare::verify(host.tree(), spec);
  REQUIRE(left_out);
  REQUIRE(left_out->size() == 1);
  CHECK(left_out->front().kind == "vendor.com/gpu");
  CHECK(left_out->front().name == "bad");
  CHECK(left_out->front().reason == "device node \"/dev/x\" is missing");
  REQUIRE(spec.devices.size() == 2);
  CHECK(spec.devices[0].name == "good");
  CHECK(spec.devices[1].name == "fine");
}

TEST_CASE("Nothing is left of a spec whose shared edits cannot be had, or all of its devices") {
  const NodeHost host;
  cdi::Spec shared{.kind = "vendor.com/gpu", .devices = {device("good", {.path = "/dev/a"})}};
  shared.container_edits.mounts.push_back(
      {.host_path = "/gone", .container_path = "/gone", .options = {"rbind"}});
  const auto failed = prepare::verify(host.tree(), shared);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "vendor.com/gpu: mount source \"/gone\" is missing");

  cdi::Spec all{.kind = "vendor.com/gpu", .devices = {device("bad", {.path = "/dev/x"})}};
  CHECK_FALSE(prepare::verify(host.tree(), all));
  cdi::Spec none{.kind = "vendor.com/gpu"};
  CHECK_FALSE(prepare::verify(host.tree(), none));
}
