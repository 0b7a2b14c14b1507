// `ChangedPlan`: a plan that gets mounts and nodes in place of hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_CHANGED_PLAN_HPP
#define CDI_SANDBOX_CHANGED_PLAN_HPP

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/hook_effects.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A plan without its hooks, and what is changed in it for them.
struct ChangedPlan {
  explicit ChangedPlan(const Plan& before) : plan{before}, files{before} {
    plan.hooks.clear();
    for (const auto& one : plan.device_nodes) {
      if (!one.overridden) nodes[clean_path(one.edit.path)] = one.edit;
    }
  }

  /// Notes how an effect of a hook is made.
  void note(const HookEffects& from, HookWay way, std::string_view subject, std::string reason) {
    notes.push_back(
        {from.hook_class, way, std::string{subject}, std::move(reason), from.hook->origin});
  }

  /// Mounts a file of the host, with the options and type of another mount.
  void add_mount(const HookEffects& from, std::string host, std::string path, const Mount& like) {
    Mount mount{.host_path = std::move(host), .container_path = std::move(path)};
    mount.options = like.options;
    mount.type = like.type;
    files.add(mount);
    plan.mounts.push_back({std::move(mount), from.hook->origin});
  }

  /// Mounts a file of the host read-only.
  void add_read_only(const HookEffects& from, std::string host, std::string path) {
    Mount like;
    like.options = {"ro", "nosuid", "nodev", "bind"};
    add_mount(from, std::move(host), std::move(path), like);
  }

  /// Makes a device node, like another one, unless one is at this path.
  void add_node(const HookEffects& one, const DeviceNode& node, const std::string& path) {
    if (nodes.contains(path)) {
      return note(one, HookWay::nothing, path, "a device node is already at this path");
    }
    auto copy = node;
    copy.path = path;
    nodes[path] = copy;
    plan.device_nodes.push_back({std::move(copy), one.hook->origin});
    note(one, HookWay::mounts, path, "the device node is made under this name too");
  }

  Plan plan;
  std::vector<HookNote> notes{};
  ContainerFiles files;                                    // the mounts of the plan
  std::map<std::string, DeviceNode, std::less<>> nodes{};  // by clean path
};

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_CHANGED_PLAN_HPP
