// The edits that a program without hooks gets.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP
#define CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/plan.hpp>

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

// The seam of `cdi::without_hooks` (<cdi/sandbox/hookless.hpp>): it is to be called here, with the
// image and the directory for generated files of the command line. Its notes of the ways `lost` and
// `kept` become losses; all others need none.
/// Returns the edits of devices without their hooks, each of which is a loss.
inline cdi::Result<ProgramPlan> plan_for(const cdi::Registry& registry,
                                         const std::vector<std::string>& names) {
  auto plan = cdi::plan(registry, names);
  if (!plan) return std::move(plan).error();
  ProgramPlan out{*std::move(plan), {}};
  for (const auto& [hook, origin, overridden] : out.plan.hooks) {
    out.lost.push_back({"hook", hook_subject(hook), hook_loss(hook), origin});
  }
  out.plan.hooks.clear();
  return out;
}

#endif  // CDI_TOOLS_CDI_ARGS_PLAN_FOR_HPP
