// `cdi resolve`: prints the edits of devices as data, each with its origin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <string>
#include <type_traits>
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

/// A plan as text with a line for each edit, and as a record.
struct ShownPlan {
  std::string text{};
  Json record{};

  template <class Edit>
  void add(const char* key, const std::vector<cdi::Planned<Edit>>& edits) {
    Json& list = record[key] = Json::array();
    for (const auto& [edit, origin, overridden] : edits) {
      text += fmt::format("{}  {}{}\n", edit_text(edit), to_string(origin),
                          overridden ? "  overridden" : "");
      Json entry{{"edit", edit_json(edit)}, {"origin", origin_json(origin)}};
      if constexpr (std::is_same_v<Edit, cdi::Hook>) entry["class"] = class_of(edit);
      if (overridden) entry["overridden"] = true;
      list.push_back(std::move(entry));
    }
  }

  void add(const cdi::HookNote& note) {
    text += fmt::format("hook of class {}: {}  {}: {}\n", hook_class_name(note.hook_class),
                        hook_way_name(note.way), printable(note.subject), note.reason);
    record["notes"].push_back({{"class", hook_class_name(note.hook_class)},
                               {"way", hook_way_name(note.way)},
                               {"subject", note.subject},
                               {"reason", note.reason},
                               {"origin", origin_json(note.origin)}});
  }
};

ShownPlan show(const cdi::Plan& plan, const std::vector<cdi::HookNote>& notes) {
  ShownPlan out;
  out.record["version"] = 1;
  out.record["devices"] = Json::array();
  for (const auto& device : plan.devices) out.record["devices"].push_back(origin_json(device));
  cdi::Plan::each_kind([&](const char* key, auto list, auto) { out.add(key, plan.*list); });
  out.record["notes"] = Json::array();
  for (const auto& note : notes) out.add(note);
  out.record["overlaps"] = Json::array();
  for (const auto& overlap : tools::find_overlaps(plan)) {
    out.record["overlaps"].push_back({{"code", row_of(overlap.kind).code},
                                      {"key", overlap.key},
                                      {"equal", overlap.equal},
                                      {"first", origin_json(overlap.first)},
                                      {"second", origin_json(overlap.second)}});
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
  const auto shown = show(*plan, notes);
  return output.result(shown.text, shown.record) ? exit_done : exit_failed;
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
