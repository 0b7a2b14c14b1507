// Whether a spec that stays gives access to a GPU.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/claims/kept_spec.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace prepare;

namespace {

Node numbered_node(const char* path, char type, std::int64_t major, std::int64_t minor) {
  Node node;
  node.path = path;
  node.type = type;
  node.major = major;
  node.minor = minor;
  return node;
}

/// A spec with one node.
cdi::Spec spec_with_node(const cdi::DeviceNode& node) {
  cdi::Spec spec;
  spec.devices.emplace_back();
  spec.devices.back().container_edits.device_nodes.push_back(node);
  return spec;
}

const cdi::DeviceNode its_node{.path = "/dev/x", .type = "c", .major = 226, .minor = 1};

}  // namespace

TEST_CASE("a node of a spec belongs to a GPU by its path or its numbers") {
  const auto is_its = [](const cdi::DeviceNode& node, const Node& other) {
    return is_node(node, other);
  };
  CHECK(is_its(its_node, numbered_node("/dev/y", 'c', 226, 1)));
  CHECK(is_its({.path = "/dev/x"}, numbered_node("/dev/x", 'c', 226, 1)));
  CHECK(
      is_its({.path = "/dev/inside", .host_path = "/dev/x"}, numbered_node("/dev/x", 'c', 226, 1)));
  CHECK_FALSE(
      is_its({.path = "/dev/x", .host_path = "/dev/z"}, numbered_node("/dev/x", 'c', 226, 1)));
  CHECK_FALSE(is_its(its_node, numbered_node("/dev/y", 'b', 226, 1)));
  CHECK_FALSE(is_its(its_node, numbered_node("/dev/y", 'c', 226, 2)));
  CHECK_FALSE(is_its({.path = "/dev/z"}, numbered_node("/dev/y", 'c', 0, 0)));
}

TEST_CASE("a spec gives access to a GPU through each of its nodes") {
  const auto spec = spec_with_node(its_node);
  const auto its = numbered_node("/dev/x", 'c', 226, 1);
  Gpu gpu;
  CHECK_FALSE(gives_access_to(spec, gpu));
  gpu.whole.nodes = {its};
  CHECK(gives_access_to(spec, gpu));
  gpu.whole.nodes.clear();
  gpu.iommufd_nodes = {its};
  CHECK(gives_access_to(spec, gpu));
  gpu.iommufd_nodes.clear();
  gpu.partitions = {{.suffix = "1"}, {.suffix = "2", .nodes = {its}}};
  CHECK(gives_access_to(spec, gpu));
}
