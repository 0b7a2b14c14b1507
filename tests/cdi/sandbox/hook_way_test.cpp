// Tests for include/cdi/sandbox/hook_way.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/sandbox/hook_way.hpp>

TEST_CASE("The names of ways are stable") {
  using cdi::HookWay;
  CHECK(hook_way_name(HookWay::mounts) == "mounts");
  CHECK(hook_way_name(HookWay::linker_cache) == "linker-cache");
  CHECK(hook_way_name(HookWay::linker_path) == "linker-path");
  CHECK(hook_way_name(HookWay::variable) == "variable");
  CHECK(hook_way_name(HookWay::file) == "file");
  CHECK(hook_way_name(HookWay::nothing) == "nothing");
  CHECK(hook_way_name(HookWay::lost) == "lost");
  CHECK(hook_way_name(HookWay::kept) == "kept");
}
