// `cdi resolve`: prints the edits of devices as data, each with its origin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/cdi_specs/overlaps.hpp"
#include "../base/edit_text.hpp"
#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"
#include "../inject/without_hooks.hpp"
#include "commands.hpp"

namespace {

/// Adds the notes about hooks.
void add_notes(const std::vector<cdi::HookNote>& notes, ResolvedEdits& out, std::string& text) {
  for (const auto& [hook_class, way, subject, reason, origin] : notes) {
    const ShownNote note{hook_class_name(hook_class), hook_way_name(way), subject, reason, origin};
    text += fmt::format("hook of class {}: {}  {}: {}\n", note.hook_class, note.way,
                        printable(subject), reason);
    out.notes.push_back(note);
  }
}

/// A plan as a record. Adds a line for each edit to `text`.
ResolvedEdits resolved_edits(const cdi::Plan& plan, const std::vector<cdi::HookNote>& notes,
                             std::string& text) {
  ResolvedEdits out;
  out.devices = plan.devices;
  cdi::Plan::each_kind([&](const char*, auto list, auto) {
    for (const auto& [edit, origin, overridden] : plan.*list) {
      text += fmt::format("{}  {}{}\n", edit_text(edit), to_string(origin),
                          overridden ? "  overridden" : "");
      out.add(shown_edit(edit, origin, overridden));
    }
  });
  add_notes(notes, out, text);
  for (const auto& [kind, key, first, second, equal] : tools::find_overlaps(plan)) {
    out.overlaps.push_back({row_of(kind).code, key, equal, first, second});
  }
  return out;
}

/// The options of `resolve`.
struct ResolveOptions {
  std::vector<std::string> names{};
  std::string hooks = "keep";  // or replace
  cdi::HooklessOptions places{};
};

/// Prints the edits of devices, without an OCI spec.
ExitCode resolve(const CommonOptions& common, const ResolveOptions& options, const Output& output) {
  const auto registry = scan_and_warn(common, output);
  const auto devices = resolve_or_report(options.names, *registry, output);
  if (!devices) return exit_failed;
  auto plan = cdi::plan_resolved(*devices);
  if (!plan) return output.reject(plan.error());
  if (output.format() == OutputFormat::text) warn_of_overlaps(tools::find_overlaps(*plan), output);
  std::vector<cdi::HookNote> notes;
  if (options.hooks == "replace") {
    auto made = cdi::without_hooks(*plan, options.places);
    if (!made) return output.reject(made.error());
    plan = std::move(made->plan);
    notes = std::move(made->notes);
  }
  std::string text;
  const auto resolved = resolved_edits(*plan, notes, text);
  return output.result(text, resolved) ? exit_done : exit_failed;
}

Run set_up_resolve(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<ResolveOptions>();
  add_names(app, options->names);
  app.add_option("--hooks", options->hooks,
                 "What to do with hooks: keep lists them; replace lists mounts, nodes and "
                 "variables in their place, with notes on how each effect is made")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "replace"}));
  add_hookless_options(app, options->places);
  return [options](const CommonOptions& given, const Output& output) {
    return resolve(given, *options, output);
  };
}

}  // namespace

constexpr Command resolve_command{
    "resolve", "List the edits of devices, with the device numbers and the file and line of each",
    set_up_resolve, "cdi resolve vendor.com/gpu=0"};
