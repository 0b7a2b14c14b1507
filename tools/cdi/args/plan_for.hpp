// Plans the edits for a program without hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/host.hpp>
#include <cdi/plan.hpp>
#include <cdi/sandbox.hpp>

#include "../base/output.hpp"
#include "loss.hpp"

/// A plan without hooks, and the hooks whose effects are lost.
struct ProgramPlan {
  cdi::Plan plan{};
  std::vector<Loss> lost{};
};

/// The hook, its command and its point, in a few words.
inline std::string hook_subject(const cdi::Hook& hook) {
  const auto command = hook.args.size() > 1 ? " " + hook.args[1] : std::string{};
  return fmt::format("{}{} at {}", hook.path, command, hook.hook_name);
}

/// The nodes that the host does not have, by their paths there, and why.
using MissingNodes = std::map<std::string, std::string, std::less<>>;

/// The type that devices expect of a host node; `c` if they name none.
inline char wanted_type(const std::vector<cdi::ResolvedDevice>& devices, std::string_view path) {
  for (const auto& [spec, device] : devices) {
    for (const auto* edits : {&spec->spec.container_edits, &device->container_edits}) {
      for (const auto& node : edits->device_nodes) {
        const auto& there = node.host_path.empty() ? node.path : node.host_path;
        if (there == path && !node.type.empty()) return node.type.front();
      }
    }
  }
  return 'c';
}

/// Plans devices, even if the host lacks nodes whose numbers are needed: the plan has such nodes
/// without numbers.
inline cdi::Result<cdi::Plan> plan_with_missing(const std::vector<cdi::ResolvedDevice>& devices,
                                                MissingNodes& missing) {
  return cdi::plan_resolved(devices, [&](std::string_view path) -> cdi::Result<cdi::HostNode> {
    auto node = cdi::SystemHost{}(path);
    if (node) return node;
    const auto& [message, advice] = std::tie(node.error().message, node.error().advice);
    missing.emplace(path, advice.empty() ? message : message + ": " + advice);
    struct stat there = {};  // also at the end of a link, which a spec with numbers may name
    const auto followed = ::stat(std::string{path}.c_str(), &there) == 0;
    return cdi::HostNode{.type = wanted_type(devices, path),
                         .file_mode = followed ? there.st_mode & 07777 : 0};
  });
}

/// Moves nodes with unknown numbers from a plan to the losses.
inline void lose_missing_nodes(const MissingNodes& missing, ProgramPlan& found) {
  std::erase_if(found.plan.device_nodes, [&](const auto& planned) {
    const auto why = missing.find(planned.edit.host_path);
    const bool has_numbers = planned.edit.major != 0 || planned.edit.type == "p";
    if (why == missing.end() || has_numbers) return false;
    if (!planned.overridden) {
      found.lost.push_back(
          {{"deviceNode", planned.edit.path, "the container does not get it: " + why->second},
           planned.origin});
    }
    return true;
  });
}

/// Returns the edits of devices without their hooks. Losses are effects of hooks that cannot be
/// replaced, unknown hooks, and nodes that the host lacks.
inline cdi::Result<ProgramPlan> plan_for(const std::vector<cdi::ResolvedDevice>& devices,
                                         cdi::HooklessOptions options) {
  MissingNodes missing;
  const auto plan = plan_with_missing(devices, missing);
  if (!plan) return plan.error();
  options.keep_unknown = true;
  auto made = cdi::without_hooks(*plan, options);
  if (!made) return std::move(made).error();
  ProgramPlan out{std::move(made->plan), {}};
  for (const auto& [hook, origin, overridden] : out.plan.hooks) {
    out.lost.push_back({{"hook", hook_subject(hook), hook_loss(hook)}, origin});
  }
  out.plan.hooks.clear();
  lose_missing_nodes(missing, out);
  for (const auto& note : made->notes) {
    if (note.way != cdi::HookWay::lost) continue;
    out.lost.push_back({{fmt::format("hook of class {}", hook_class_name(note.hook_class)),
                         note.subject, note.reason},
                        note.origin});
  }
  return out;
}
