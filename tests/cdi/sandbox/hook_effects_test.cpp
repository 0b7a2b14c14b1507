// Tests for include/cdi/sandbox/hook_effects.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hook_effects.hpp>

#include "container_case.hpp"

namespace {

using cdi::detail::read_hooks;

const Texts limits{"apply-cuda-memory-limits", "--gpu-id", "0"};

/// Why the only hook of a plan is not understood; empty if it is.
std::string reason_of(const cdi::Plan& plan, const Texts& environment = {}) {
  const auto hooks = read_hooks(plan, environment);
  REQUIRE(hooks.size() == 1);
  CHECK(hooks.front().hook == &plan.hooks.front());
  return hooks.front().unknown ? hooks.front().unknown->message : "";
}

}  // namespace

TEST_CASE("The effects of hooks are read in the order of the plan") {
  ContainerCase box;
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  box.plan.hooks.push_back({cdi::Hook{.hook_name = "createContainer", .path = "/bin/other"}, {}});
  box.add_link("a::/b");
  const auto hooks = read_hooks(box.plan, {});
  REQUIRE(hooks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(hooks[i].hook == &box.plan.hooks[i]);
  CHECK(hooks[0].hook_class == cdi::HookClass::ldcache);
  CHECK(hooks[0].changes.library_folders == Texts{"/drv"});
  CHECK_FALSE(hooks[0].unknown);
  CHECK(hooks[1].hook_class == cdi::HookClass::foreign);
  REQUIRE(hooks[1].unknown);
  CHECK(hooks[1].changes == cdi::detail::HookChanges{});
  CHECK(hooks[2].changes.links == std::vector<cdi::detail::HookLink>{{"/b", "a"}});
  CHECK(read_hooks({}, {}).empty());
}

TEST_CASE("Mounts of a plan do not hide the effects of hooks") {
  ContainerCase box;
  box.mount("lib", "/usr/lib");
  box.add_link("a::/usr/lib/b");
  CHECK(reason_of(box.plan) == "");
}

TEST_CASE("The nodes of a plan count, except those that a later node replaces") {
  ContainerCase box;
  box.add_node("/dev/nvidia0", 0666, 0);
  box.add_node("/dev/nvidia1", 0666, 1);
  box.plan.device_nodes.front().overridden = true;
  box.add_hook({"update-application-profile"});
  const auto hooks = read_hooks(box.plan, {});
  REQUIRE(hooks.front().changes.files.size() == 1);
  const auto& text = hooks.front().changes.files.front().text;
  CHECK(text.find(R"("EGLVisibleDGPUDevices",0x2])") != std::string::npos);
}

TEST_CASE("Variables of the container and of the plan count") {
  ContainerCase box;
  box.add_hook(limits);
  CHECK(reason_of(box.plan, {"NVIDIA_GPU_MEMORY", "A=NVIDIA_GPU_MEMORY_LIMIT=1"}) == "");
  CHECK(reason_of(box.plan, {"A=b", "NVIDIA_GPU_MEMORY_LIMIT=1"}) ==
        "it reads the variable NVIDIA_GPU_MEMORY_LIMIT");
  box.plan.env.push_back({"NVIDIA_GPU_MEMORY_REQUEST=1", {}});
  CHECK(reason_of(box.plan) == "it reads the variable NVIDIA_GPU_MEMORY_REQUEST");
}

TEST_CASE("A hook at a later or unknown point is not understood") {
  ContainerCase box;
  box.add_link("a::/b");
  for (const auto* point : {"prestart", "createRuntime", "createContainer"}) {
    box.plan.hooks.front().edit.hook_name = point;
    CHECK(reason_of(box.plan) == "");
  }
  for (const auto* point : {"startContainer", "poststart", "poststop"}) {
    box.plan.hooks.front().edit.hook_name = point;
    CHECK(reason_of(box.plan) ==
          "it runs at " + std::string{point} + ", after the container is created");
  }
  for (const std::string& point : {std::string{}, std::string{"createcontainer"}}) {
    box.plan.hooks.front().edit.hook_name = point;
    CHECK(reason_of(box.plan) == "its hookName \"" + point + "\" is not known");
  }
}

TEST_CASE("One error names the hooks that are not understood, the first ones with reasons") {
  ContainerCase box;
  box.add_link("a::/b");
  CHECK_FALSE(cdi::detail::unknown_hooks(read_hooks(box.plan, {})));
  box.add_hook({"chmod"});
  box.plan.hooks.push_back({cdi::Hook{.hook_name = "createContainer", .path = "/bin/ot\"her"}, {}});
  box.plan.hooks[1].origin = {.name = "v/c=d", .file = "/s.json", .line = 7, .where = "hooks[1]"};
  const auto error = cdi::detail::unknown_hooks(read_hooks(box.plan, {}));
  REQUIRE(error);
  CHECK(error->code == cdi::Errc::unsupported);
  CHECK(error->message ==
        "the hook \"/usr/bin/nvidia-cdi-hook\" cannot be replaced: the option --mode is missing; "
        "the hook "
        R"("/bin/ot\"her" cannot be replaced: it is a program whose effect is unknown)");
  CHECK(error->where == "hooks[1]");
  CHECK(error->position.file == "/s.json");
  CHECK(error->position.line == 7);
}

TEST_CASE("The error about many hooks counts the last ones") {
  cdi::Plan plan;
  const auto message = [&](int count) {
    plan.hooks.clear();
    for (int i = 0; i < count; ++i) {
      const auto path = "/bin/h" + std::to_string(i);
      plan.hooks.push_back({cdi::Hook{.hook_name = "createContainer", .path = path}, {}});
    }
    return cdi::detail::unknown_hooks(read_hooks(plan, {}))->message;
  };
  CHECK(message(8).find("/bin/h7") != std::string::npos);
  CHECK_FALSE(message(8).ends_with("more"));
  CHECK(message(10).find("/bin/h7") != std::string::npos);
  CHECK(message(10).find("/bin/h8") == std::string::npos);
  CHECK(message(10).ends_with("; and 2 more"));
}
