// `cdi resolve`: the edits of devices as data, each with its origin.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_CDI_COMMANDS_RESOLVE_HPP
#define CDI_TOOLS_CDI_COMMANDS_RESOLVE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"

// The kind of an edit, and the edit in a few words.
inline std::string edit_text(const std::string& variable) {
  return "env  " + printable(variable);
}
inline std::string edit_text(std::uint32_t gid) {
  return fmt::format("gid  {}", gid);
}
inline std::string edit_text(const cdi::DeviceNode& node) {
  auto text =
      fmt::format("node  {} {} {}:{}", printable(node.path), node.type, node.major, node.minor);
  if (node.file_mode) text += fmt::format(" {:04o}", *node.file_mode);
  if (node.host_path != node.path) text += " from " + printable(node.host_path);
  return text;
}
inline std::string edit_text(const cdi::NetDevice& device) {
  return fmt::format("interface  {} from {}", printable(device.name),
                     printable(device.host_interface_name));
}
inline std::string_view class_of(const cdi::Hook& hook) {
  return hook_class_name(cdi::classify_hook(cdi::command_of(hook)));
}
inline std::string edit_text(const cdi::Hook& hook) {
  return fmt::format("hook  {} {} ({})", hook.hook_name, printable(hook.path), class_of(hook));
}
inline std::string edit_text(const cdi::Mount& mount) {
  return fmt::format("mount  {} from {}", printable(mount.container_path),
                     printable(mount.host_path));
}
inline std::string edit_text(const cdi::IntelRdt& settings) {
  return "rdt  " + printable(settings.clos_id);
}

inline Json edit_json(const std::string& variable) {
  return variable;
}
inline Json edit_json(std::uint32_t gid) {
  return gid;
}
template <class Edit>
Json edit_json(const Edit& edit) {
  return cdi::to_json_value(edit);
}

inline Json origin_json(const cdi::Origin& origin) {
  Json record{{"name", origin.name}, {"file", origin.file}};
  if (origin.line != 0) record["line"] = origin.line;
  record["where"] = origin.where;
  return record;
}

/// A plan as text, a line for each edit, and as one record.
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
};

inline ShownPlan show(const cdi::Plan& plan) {
  ShownPlan out;
  out.record["devices"] = Json::array();
  for (const auto& device : plan.devices) out.record["devices"].push_back(origin_json(device));
  cdi::Plan::each_kind([&](const char* key, auto list, auto) { out.add(key, plan.*list); });
  out.record["overlaps"] = Json::array();
  for (const auto& overlap : cdi::find_overlaps(plan)) {
    out.record["overlaps"].push_back({{"code", row_of(overlap.kind).code},
                                      {"key", overlap.key},
                                      {"equal", overlap.equal},
                                      {"first", origin_json(overlap.first)},
                                      {"second", origin_json(overlap.second)}});
  }
  return out;
}

/// The plan of the devices; without one, its errors are printed.
inline std::optional<cdi::Plan> merge_devices(const std::vector<std::string>& names,
                                              const cdi::Registry& registry, const Output& output) {
  auto plan = cdi::plan(registry, names);
  if (plan) return *std::move(plan);
  const auto missing = registry.unresolved(names);
  for (const auto& one : missing) report_unresolved(one, output);
  if (missing.empty()) output.error(plan.error());
  return std::nullopt;
}

/// Prints the edits that devices make, and no OCI spec.
inline ExitCode resolve(const CommonOptions& common, const std::vector<std::string>& names,
                        const Output& output) {
  const auto registry = scan_and_warn(common, output);
  const auto plan = merge_devices(names, *registry, output);
  if (!plan) return exit_failed;
  if (output.format() == OutputFormat::text) warn_of_overlaps(cdi::find_overlaps(*plan), output);
  const auto shown = show(*plan);
  return output.result(shown.text, shown.record) ? exit_done : exit_failed;
}

inline Run set_up_resolve(CLI::App& app, CommonOptions& /*common*/) {
  auto names = std::make_shared<std::vector<std::string>>();
  add_names(app, *names);
  return [names](const CommonOptions& given, const Output& output) {
    return resolve(given, *names, output);
  };
}

inline constexpr Command resolve_command{
    "resolve", "List the edits of devices with the numbers of nodes and where they are defined",
    set_up_resolve};

#endif  // CDI_TOOLS_CDI_COMMANDS_RESOLVE_HPP
