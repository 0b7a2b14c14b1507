// The effects of hooks for programs in C.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../src/c/lowering.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

/// A plan with the hooks of NVIDIA's program that have these arguments.
cdi::Plan plan_of(const std::vector<std::vector<std::string>>& hooks) {
  cdi::Plan plan;
  for (const auto& arguments : hooks) {
    cdi::Hook hook{.hook_name = "createContainer", .path = "/usr/bin/nvidia-cdi-hook"};
    hook.args = {"nvidia-cdi-hook"};
    hook.args.insert(hook.args.end(), arguments.begin(), arguments.end());
    plan.hooks.push_back({hook, {}});
  }
  return plan;
}

}  // namespace

TEST_CASE("A plan without hooks has no effects") {
  const auto lowered = c_library::lower({});
  CHECK(lowered.all.changes == cdi::RootChanges{});
  CHECK(lowered.why_kept.empty());
  CHECK_FALSE(lowered.params);
}

TEST_CASE("The effects of several hooks are joined; a hook that must run says why") {
  const auto lowered = c_library::lower(plan_of({{"create-symlinks", "--link", "a::/b"},
                                                 {"an-unknown-command"},
                                                 {"create-symlinks", "--link", "c::/d"}}));
  CHECK(lowered.all.changes.links == std::vector<cdi::RootLink>{{"/b", "a"}, {"/d", "c"}});
  REQUIRE(lowered.why_kept.size() == 3);
  CHECK(lowered.why_kept[0].empty());
  CHECK_FALSE(lowered.why_kept[1].empty());
  CHECK(lowered.why_kept[2].empty());
}
