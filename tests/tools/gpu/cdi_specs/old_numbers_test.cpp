// Device numbers in a spec that differ from the host's.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/cdi_specs/old_numbers.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace prepare;

TEST_CASE("a node has old numbers if either differs from its path's") {
  Node real;
  real.path = "/dev/x";
  real.major = 195;
  real.minor = 1;
  const auto fault = [&](const char* path, std::int64_t major, std::int64_t minor) {
    cdi::ContainerEdits edits;
    edits.device_nodes.push_back({.path = path, .major = major, .minor = minor});
    return renumbered(edits, {real}).value_or("");
  };
  CHECK(fault("/dev/x", 195, 1).empty());
  CHECK(fault("/dev/x", 195, 2) == "/dev/x has numbers 195:2 there, and 195:1 now");
  CHECK(fault("/dev/x", 196, 1) == "/dev/x has numbers 196:1 there, and 195:1 now");
  CHECK(fault("/dev/y", 195, 2).empty());
  CHECK(fault("/dev/x", 0, 0).empty());  // runtimes ask the host
}
