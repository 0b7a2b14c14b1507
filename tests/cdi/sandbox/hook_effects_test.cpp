// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hook_effects.hpp>

namespace {

cdi::Planned<cdi::Hook> hook(const std::string& path, std::vector<std::string> args) {
  cdi::Planned<cdi::Hook> out;
  out.edit.hook_name = "createContainer";
  out.edit.path = path;
  out.edit.args = std::move(args);
  out.origin = {.file = "/spec", .line = 7, .where = "devices[0].containerEdits.hooks[0]"};
  return out;
}

}  // namespace

TEST_CASE("Hooks are read as effects, in their order, and others with the reason") {
  cdi::Plan plan;
  plan.hooks = {hook("/bin/nvidia-cdi-hook", {"a", "create-symlinks", "--link", "x::/y"}),
                hook("/bin/other", {}),
                hook("/bin/nvidia-cdi-hook", {"a", "update-ldcache", "--folder", "/lib/x"})};
  const auto hooks = cdi::detail::read_hooks(plan, {});
  REQUIRE(hooks.effects.size() == 2);
  CHECK(hooks.effects[0].hook_class == cdi::HookClass::symlinks);
  CHECK(hooks.effects[0].changes.links == std::vector<cdi::RootLink>{{"/y", "x"}});
  CHECK(hooks.effects[1].changes.library_folders == std::vector<std::string>{"/lib/x"});
  REQUIRE(hooks.unknown.size() == 1);
  CHECK(hooks.unknown[0].first == &plan.hooks[1]);
}

TEST_CASE("An error names the first eight unknown hooks, and the place of the first") {
  cdi::Plan plan;
  for (int i = 0; i < 10; ++i) plan.hooks.push_back(hook("/h" + std::to_string(i), {}));
  const auto error = cdi::detail::unknown_hooks(cdi::detail::read_hooks(plan, {}));
  CHECK(error.code == cdi::Errc::unsupported);
  CHECK(error.position.line == 7);
  CHECK(error.message.starts_with(
      "the hook \"/h0\" cannot be replaced: it is a program whose effect is unknown; the hook "));
  CHECK(error.message.find("\"/h7\"") != std::string::npos);
  CHECK(error.message.ends_with("; and 2 more"));
  CHECK(error.message.find("/h8") == std::string::npos);
}
