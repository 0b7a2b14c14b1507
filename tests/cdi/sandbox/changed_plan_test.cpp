// What is added to a plan in place of a hook.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/sandbox/changed_plan.hpp>
#include <cdi/sandbox/hook_effects.hpp>
#include <cdi/sandbox/hook_way.hpp>

#include "container_case.hpp"

namespace {

using cdi::HookWay;
using cdi::detail::ChangedPlan;

/// A container with a hook of the device v/c=d.
struct OneHook : ContainerCase {
  OneHook() { add_link("a::/b", "v/c=d"); }
  cdi::detail::HookEffects effects() const {
    return {&plan.hooks.front(), cdi::HookClass::symlinks};
  }
};

}  // namespace

TEST_CASE("A changed plan has no hooks, and keeps the other edits") {
  OneHook box;
  box.mount("x", "/x");
  box.add_node("/dev/a");
  box.plan.env = {{"A=b", {}}};
  const ChangedPlan changed{box.plan};
  CHECK(changed.plan.hooks.empty());
  CHECK(changed.plan.mounts == box.plan.mounts);
  CHECK(changed.plan.device_nodes == box.plan.device_nodes);
  CHECK(changed.plan.env == box.plan.env);
  CHECK(changed.notes.empty());
}

TEST_CASE("What is added for a hook has the origin of the hook") {
  OneHook box;
  box.add_node("/dev/a");
  ChangedPlan changed{box.plan};
  changed.add_read_only(box.effects(), "/host/x", "/x");
  changed.add_node(box.effects(), box.plan.device_nodes.front().edit, "/dev/b");
  changed.note(box.effects(), HookWay::lost, "/y", "there is no y");
  CHECK(changed.plan.mounts.back().origin.name == "v/c=d");
  CHECK(changed.plan.device_nodes.back().origin.name == "v/c=d");
  REQUIRE(changed.notes.size() == 2);
  CHECK(changed.notes[0].subject == "/dev/b");
  CHECK(changed.notes[1] == cdi::HookNote{cdi::HookClass::symlinks, HookWay::lost, "/y",
                                          "there is no y", box.plan.hooks.front().origin});
}

TEST_CASE("An added mount has the options and type of the other, and is a file from then on") {
  OneHook box;
  ChangedPlan changed{box.plan};
  CHECK_FALSE(changed.files.find("/lib/x"));
  cdi::Mount like{.host_path = "/other", .container_path = "/other"};
  like.options = {"ro", "bind"};
  like.type = "bind";
  changed.add_mount(box.effects(), "/host/x", "/lib/x", like);
  const auto& mount = changed.plan.mounts.back().edit;
  CHECK(mount.host_path == "/host/x");
  CHECK(mount.container_path == "/lib/x");
  CHECK(mount.options == Texts{"ro", "bind"});
  CHECK(mount.type == "bind");
  REQUIRE(changed.files.find("/lib/x"));
  CHECK(changed.files.find("/lib/x")->host == "/host/x");
}

TEST_CASE("A device node is added once for each path; one that is overridden does not count") {
  OneHook box;
  box.add_node("/dev/./a", 0600, 3);
  box.add_node("/dev/gone");
  box.plan.device_nodes.back().overridden = true;
  ChangedPlan changed{box.plan};
  CHECK(changed.nodes.contains("/dev/a"));
  CHECK_FALSE(changed.nodes.contains("/dev/gone"));
  const auto node = changed.nodes.at("/dev/a");
  for (int i = 0; i < 2; ++i) changed.add_node(box.effects(), node, "/dev/b");
  REQUIRE(changed.plan.device_nodes.size() == 3);
  const auto& added = changed.plan.device_nodes.back().edit;
  CHECK(added.path == "/dev/b");
  CHECK(added.host_path == node.host_path);
  CHECK(added.minor == 3);
  REQUIRE(changed.notes.size() == 2);
  CHECK(changed.notes[0].way == HookWay::mounts);
  CHECK(changed.notes[1].way == HookWay::nothing);
}
