// The listing commands: devices, vendors, classes, specs, dirs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_LIST_HPP
#define CDI_TOOLS_CDI_COMMANDS_LIST_HPP

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"

/// Prints names, one per line, or as a list.
template <class Names>
ExitCode print_names(const Names& names, const Output& output) {
  std::string text;
  for (const auto& name : names) text.append(name).append("\n");
  return output.result(text, Json(names)) ? exit_done : exit_failed;
}

inline ExitCode list_devices(const CommonOptions& common, const Output& output) {
  const auto registry = scan_and_warn(common, output);
  if (output.format() == OutputFormat::text) return print_names(registry->devices(), output);
  Json list = Json::array();
  for (const auto& name : registry->devices()) {
    const auto found = registry->find(name);
    Json entry{{"name", name}, {"file", found.spec->path}, {"line", found.line()}};
    if (!found.device->annotations.empty()) entry["annotations"] = found.device->annotations;
    entry["containerEdits"] = cdi::to_json_value(found.device->container_edits);
    list.push_back(std::move(entry));
  }
  return output.result({}, list) ? exit_done : exit_failed;
}

inline ExitCode list_vendors(const CommonOptions& common, const Output& output) {
  return print_names(scan_and_warn(common, output)->vendors(), output);
}

inline ExitCode list_classes(const CommonOptions& common, const Output& output) {
  return print_names(scan_and_warn(common, output)->classes(), output);
}

inline ExitCode list_specs(const CommonOptions& common, const Output& output) {
  const auto registry = scan_and_warn(common, output);
  std::string text;
  Json list = Json::array();
  for (const auto& loaded : registry->specs()) {
    const auto& spec = loaded->spec;
    text += fmt::format("{}  {}  {}  {} device{}\n", printable(loaded->path), spec.kind,
                        spec.version, spec.devices.size(), spec.devices.size() == 1 ? "" : "s");
    list.push_back({{"file", loaded->path},
                    {"priority", loaded->priority},
                    {"kind", spec.kind},
                    {"cdiVersion", spec.version},
                    {"devices", spec.devices.size()}});
  }
  return output.result(text, list) ? exit_done : exit_failed;
}

inline std::string_view state_name(cdi::SpecDir::State state) {
  switch (state) {
    case cdi::SpecDir::State::read: return "read";
    case cdi::SpecDir::State::missing: return "missing";
    case cdi::SpecDir::State::unreadable: break;
  }
  return "unreadable";
}

inline ExitCode list_dirs(const CommonOptions& common, const Output& output) {
  const auto registry = scan_and_warn(common, output);
  std::string text;
  Json list = Json::array();
  for (const auto& dir : registry->dirs()) {
    const auto state = state_name(dir.state);
    text += fmt::format("{}  priority {}  {}  {} spec{}\n", printable(dir.path), dir.priority,
                        state, dir.specs, dir.specs == 1 ? "" : "s");
    list.push_back(
        {{"path", dir.path}, {"priority", dir.priority}, {"state", state}, {"specs", dir.specs}});
  }
  return output.result(text, list) ? exit_done : exit_failed;
}

/// Commands without their own options.
template <ExitCode (*run)(const CommonOptions&, const Output&)>
Run set_up_list(CLI::App& /*app*/, CommonOptions& /*common*/) {
  return run;
}

inline constexpr Command devices_command{"devices", "List the qualified names of all devices",
                                         set_up_list<list_devices>};
inline constexpr Command vendors_command{"vendors", "List the vendors of all specs",
                                         set_up_list<list_vendors>};
inline constexpr Command classes_command{"classes", "List the device classes of all specs",
                                         set_up_list<list_classes>};
inline constexpr Command specs_command{
    "specs", "List the spec files with kind, CDI version and number of devices",
    set_up_list<list_specs>};
inline constexpr Command dirs_command{"dirs", "List the spec directories with priority and state",
                                      set_up_list<list_dirs>};

#endif  // CDI_TOOLS_CDI_COMMANDS_LIST_HPP
