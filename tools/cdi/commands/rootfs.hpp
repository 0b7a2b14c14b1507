// `cdi rootfs`: makes the changes to a root that `cdi inject --hooks lower` recorded in a config.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_ROOTFS_HPP
#define CDI_TOOLS_CDI_COMMANDS_ROOTFS_HPP

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/nvidia.hpp>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/output.hpp"
#include "../hooks/host_hooks.hpp"
#include "../hooks/lowered_config.hpp"
#include "../rootfs/root_plan.hpp"

/// The options of `rootfs`.
struct RootfsOptions {
  std::string root{};
  std::string config{};
  bool apply = false;
};

/// The changes recorded in a config; none without the annotation.
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

/// The steps outside the root, in the folder of the config.
inline RootSteps plan_beside(const cdi::RootChanges& changes) {
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
inline bool print_steps(const RootSteps& steps, const Output& output) {
  std::string text;
  Json records = Json::array();
  for (const auto& step : steps) {
    text += step_text(step) + "\n";
    records.push_back(step_record(step));
  }
  return output.result(text, records);
}

/// A directory, and the changes to make in it.
struct PlannedRoot {
  RootedFiles files;
  RootSteps plan;
  cdi::RootChanges changes{};  // the source of the plan; none for the folder of the config
};

inline cdi::Result<std::vector<PlannedRoot>> plan_roots(const RootfsOptions& options) {
  auto changes = recorded_changes(options.config);
  if (!changes) return changes.error();
  auto root = RootedFiles::open(options.root);
  if (!root) return root.error();
  auto plan = plan_steps(*root, *changes);
  if (!plan) return plan.error();
  auto beside_plan = plan_beside(*changes);
  std::vector<PlannedRoot> planned;
  planned.push_back({*std::move(root), *std::move(plan), *std::move(changes)});
  if (beside_plan.empty()) return planned;
  auto beside = RootedFiles::open(folder_of_config(options.config) + "/");
  if (!beside) return beside.error();
  planned.push_back({*std::move(beside), std::move(beside_plan)});
  return planned;
}

}  // namespace detail

/// Prints the changes that a root needs; with `--apply`, makes the changes, and prints each one.
inline ExitCode change_root(const RootfsOptions& options, const Output& output) {
  const auto planned = detail::plan_roots(options);
  if (!planned) return output.reject(planned.error());
  RootSteps steps;
  for (const auto& [files, plan, changes] : *planned) {
    const auto needed = needed_steps(files, plan);
    if (!needed) return output.reject(needed.error());
    steps.insert(steps.end(), needed->begin(), needed->end());
  }
  if (!options.apply) return detail::print_steps(steps, output) ? exit_done : exit_failed;
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

inline Run set_up_rootfs(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<RootfsOptions>();
  app.add_option("ROOTFS", options->root, "The root of the container")
      ->required()
      ->check(not_empty);
  app.add_option("CONFIG", options->config, "The config.json from `cdi inject --hooks lower`")
      ->required()
      ->check(not_empty);
  app.add_flag("--apply", options->apply, "Make the changes instead of only printing them");
  return [options](const CommonOptions& /*given*/, const Output& output) {
    return change_root(*options, output);
  };
}

inline constexpr Command rootfs_command{
    "rootfs", "Print or make the changes to a container root that replace hooks", set_up_rootfs,
    "cdi rootfs --apply rootfs config.json"};

#endif  // CDI_TOOLS_CDI_COMMANDS_ROOTFS_HPP
