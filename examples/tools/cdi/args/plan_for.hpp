// The edits that a program without hooks gets.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP
#define CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

/// Returns the edits of devices without their hooks. What cannot be made in place of a hook, and a
/// hook that is not understood, is a loss.
inline cdi::Result<ProgramPlan> plan_for(const std::vector<cdi::ResolvedDevice>& devices,
                                         cdi::HooklessOptions options) {
  const auto plan = cdi::plan_resolved(devices);
  if (!plan) return plan.error();
  options.keep_unknown = true;
  auto made = cdi::without_hooks(*plan, options);
  if (!made) return std::move(made).error();
  ProgramPlan out{std::move(made->plan), {}};
  for (const auto& [hook, origin, overridden] : out.plan.hooks) {
    out.lost.push_back({"hook", hook_subject(hook), hook_loss(hook), origin});
  }
  out.plan.hooks.clear();
  for (const auto& note : made->notes) {
    if (note.way != cdi::HookWay::lost) continue;
    out.lost.push_back({fmt::format("hook of class {}", hook_class_name(note.hook_class)),
                        note.subject, note.reason, note.origin});
  }
  return out;
}

#endif  // CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP
