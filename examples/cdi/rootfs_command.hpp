// `cdi rootfs`: makes the changes to a root that `cdi inject --hooks lower` recorded in a config.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_ROOTFS_COMMAND_HPP
#define CDI_EXAMPLES_CDI_ROOTFS_COMMAND_HPP

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/hooks.hpp>

#include "exit_codes.hpp"
#include "host_hooks.hpp"
#include "lowered_config.hpp"
#include "output.hpp"
#include "request.hpp"
#include "root_plan.hpp"

/// The changes that a config records; none without the annotation.
inline cdi::Result<cdi::RootChanges> recorded_changes(const std::string& path) {
  const auto text = cdi::read_file(path);
  if (!text) return text.error();
  const auto document = cdi::parse_json(*text, path);
  if (!document) return document.error();
  const auto spec = cdi::read<cdi::oci::Spec>(*document);
  if (!spec) return spec.error();
  auto changes = recorded_changes(*spec);
  if (!changes) changes.error().position = document->locate(changes.error().where);
  return changes;
}

namespace detail {

/// The steps that are outside of the root: in the folder of the config.
inline RootPlan plan_beside(const cdi::RootChanges& changes) {
  if (!changes.masked_params) return {};
  const auto params = cdi::read_file(std::string{cdi::params_path});
  auto text = params ? cdi::masked_params(*params) : std::nullopt;
  if (!text) return {};
  return {{RootStep::Kind::file, fmt::format("/{}", params_name), *std::move(text), 0444}};
}

inline Json step_record(const RootStep& step) {
  const auto mode = fmt::format("{:04o}", step.mode);
  switch (step.kind) {
    case RootStep::Kind::link:
      return {{"step", "link"}, {"path", step.path}, {"target", step.text}};
    case RootStep::Kind::file:
      return {{"step", "file"}, {"path", step.path}, {"text", step.text}, {"mode", mode}};
    case RootStep::Kind::removal: return {{"step", "remove"}, {"path", step.path}};
    case RootStep::Kind::mode: break;
  }
  return {{"step", "mode"}, {"path", step.path}, {"mode", mode}};
}

/// Prints steps.
inline bool print_steps(const RootPlan& steps, const Output& output) {
  std::string text;
  Json records = Json::array();
  for (const auto& step : steps) {
    text += step_text(step) + "\n";
    records.push_back(step_record(step));
  }
  return output.result(text, records);
}

/// A directory, and what changes in it.
struct PlannedRoot {
  RootedFiles files;
  RootPlan plan;
  cdi::RootChanges changes{};  // for which the plan was made; none beside the root
};

inline cdi::Result<std::vector<PlannedRoot>> plan_roots(const Request& request) {
  auto changes = recorded_changes(request.config);
  if (!changes) return changes.error();
  auto root = RootedFiles::open(request.root);
  if (!root) return root.error();
  auto plan = plan_steps(*root, *changes);
  if (!plan) return plan.error();
  auto beside_plan = plan_beside(*changes);
  std::vector<PlannedRoot> planned;
  planned.push_back({*std::move(root), *std::move(plan), *std::move(changes)});
  if (beside_plan.empty()) return planned;
  auto beside = RootedFiles::open(folder_of_config(request.config) + "/");
  if (!beside) return beside.error();
  planned.push_back({*std::move(beside), std::move(beside_plan)});
  return planned;
}

}  // namespace detail

/// Prints the changes that a root needs; with `--apply`, makes them, and prints those made.
inline ExitCode change_root(const Request& request, const Output& output) {
  const auto planned = detail::plan_roots(request);
  if (!planned) return output.refuse(planned.error());
  RootPlan steps;
  for (const auto& [files, plan, changes] : *planned) {
    const auto needed = needed_steps(files, plan);
    if (!needed) return output.refuse(needed.error());
    steps.insert(steps.end(), needed->begin(), needed->end());
  }
  if (!request.apply) return detail::print_steps(steps, output) ? exit_done : exit_refused;
  steps.clear();
  for (const auto& [files, plan, changes] : *planned) {
    const auto done = carry_out_changes(files, changes, plan,
                                        [&](const RootStep& step) { steps.push_back(step); });
    if (done) continue;
    output.error(done.error());
    return exit_incomplete;
  }
  return detail::print_steps(steps, output) ? exit_done : exit_incomplete;
}

#endif  // CDI_EXAMPLES_CDI_ROOTFS_COMMAND_HPP
