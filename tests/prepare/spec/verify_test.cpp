// The last check of the paths of a spec.
// SPDX-License-Identifier: Apache-2.0

#include "../../../examples/prepare/spec/verify.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "../../temp_tree.hpp"

namespace {

constexpr const char* device_table =
    "/dev/a c 10 0 0666 0 0\n"
    "/dev/b b 8 1 0660 0 6\n";

/// A host with two nodes, a library and a program.
struct Host {
  Host() {
    put_file(dir / "dev.tab", device_table);
    std::filesystem::create_directories(dir / "usr/bin");
    put_file(dir / "usr/lib.so", "");
    put_file(dir / "usr/bin/hook", "");
    std::filesystem::permissions(dir / "usr/bin/hook", std::filesystem::perms{0755});
  }

  prepare::HostTree tree() const { return *prepare::HostTree::open(dir.path()); }

  TempTree dir{};
};

cdi::Device device(const std::string& name, cdi::DeviceNode node) {
  cdi::Device out{.name = name};
  out.container_edits.device_nodes.push_back(std::move(node));
  return out;
}

}  // namespace

TEST_CASE("Nodes are there as the spec has them") {
  const Host host;
  const auto tree = host.tree();
  const auto fault = [&](const cdi::DeviceNode& node) {
    return prepare::fault_of(tree, node).value_or("");
  };
  CHECK(fault({.path = "/dev/a", .type = "c", .major = 10}) == "");
  CHECK(fault({.path = "/dev/b", .type = "b", .major = 8, .minor = 1}) == "");
  CHECK(fault({.path = "/dev/a"}) == "");
  CHECK(fault({.path = "/dev/x", .host_path = "/dev/a"}) == "");
  CHECK(fault({.path = "/dev/a", .type = "c", .major = 10, .minor = 1}) == "/dev/a is c 10:0");
  CHECK(fault({.path = "/dev/a", .type = "c", .major = 11}) == "/dev/a is c 10:0");
  CHECK(fault({.path = "/dev/a", .type = "b", .major = 10}) == "/dev/a is c 10:0");
  CHECK(fault({.path = "/dev/x"}) == "/dev/x: No such file or directory");
  CHECK(fault({.path = "/dev/a", .host_path = "/dev/x"}) == "/dev/x: No such file or directory");
  // A runtime makes it from its numbers.
  CHECK(fault({.path = "/dev/x", .type = "c", .major = 10, .minor = 7}) == "");
}

TEST_CASE("Mounts and hooks are there") {
  const Host host;
  const auto tree = host.tree();
  CHECK_FALSE(prepare::fault_of(tree, cdi::Mount{.host_path = "/usr/lib.so"}));
  CHECK(prepare::fault_of(tree, cdi::Mount{.host_path = "/usr/lib.so.1"}) ==
        "/usr/lib.so.1 does not exist");
  CHECK_FALSE(prepare::fault_of(tree, cdi::Hook{.path = "/usr/bin/hook"}));
  CHECK(prepare::fault_of(tree, cdi::Hook{.path = "/usr/lib.so"}) ==
        "/usr/lib.so is not a program");
}

TEST_CASE("A device that cannot be had is left out, the rest stays") {
  const Host host;
  cdi::Spec spec{.kind = "vendor.com/gpu"};
  spec.devices = {device("good", {.path = "/dev/a"}), device("bad", {.path = "/dev/x"}),
                  device("fine", {.path = "/dev/b"})};
  const auto left_out = prepare::verify(host.tree(), spec);
  REQUIRE(left_out);
  REQUIRE(left_out->size() == 1);
  CHECK(left_out->front().kind == "vendor.com/gpu");
  CHECK(left_out->front().name == "bad");
  CHECK(left_out->front().reason == "/dev/x: No such file or directory");
  REQUIRE(spec.devices.size() == 2);
  CHECK(spec.devices[0].name == "good");
  CHECK(spec.devices[1].name == "fine");
}

TEST_CASE("Nothing is left of a spec whose shared edits cannot be had, or all of its devices") {
  const Host host;
  cdi::Spec shared{.kind = "vendor.com/gpu", .devices = {device("good", {.path = "/dev/a"})}};
  shared.container_edits.mounts.push_back({.host_path = "/gone", .container_path = "/gone"});
  const auto failed = prepare::verify(host.tree(), shared);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "vendor.com/gpu: /gone does not exist");

  cdi::Spec all{.kind = "vendor.com/gpu", .devices = {device("bad", {.path = "/dev/x"})}};
  CHECK_FALSE(prepare::verify(host.tree(), all));
  cdi::Spec none{.kind = "vendor.com/gpu"};
  CHECK_FALSE(prepare::verify(host.tree(), none));
}
