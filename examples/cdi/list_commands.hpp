// The commands that list: devices, vendors, classes, specs, dirs.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_LIST_COMMANDS_HPP
#define CDI_EXAMPLES_CDI_LIST_COMMANDS_HPP

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "exit_codes.hpp"
#include "output.hpp"
#include "request.hpp"

/// Prints names, one a line, or as a list.
template <class Names>
ExitCode print_names(const Names& names, const Output& output) {
  std::string text;
  for (const auto& name : names) text.append(name).append("\n");
  return output.result(text, Json(names)) ? exit_done : exit_refused;
}

inline ExitCode list_devices(const Request& request, const Output& output) {
  const auto registry = scan_and_warn(request, output);
  if (output.format() == OutputFormat::text) return print_names(registry->devices(), output);
  Json list = Json::array();
  for (const auto& name : registry->devices()) {
    const auto found = registry->find(name);
    Json entry{{"name", name}, {"file", found.spec->path}, {"line", found.line()}};
    if (!found.device->annotations.empty()) entry["annotations"] = found.device->annotations;
    entry["containerEdits"] = cdi::to_json_value(found.device->container_edits);
    list.push_back(std::move(entry));
  }
  return output.result({}, list) ? exit_done : exit_refused;
}

inline ExitCode list_vendors(const Request& request, const Output& output) {
  return print_names(scan_and_warn(request, output)->vendors(), output);
}

inline ExitCode list_classes(const Request& request, const Output& output) {
  return print_names(scan_and_warn(request, output)->classes(), output);
}

inline ExitCode list_specs(const Request& request, const Output& output) {
  const auto registry = scan_and_warn(request, output);
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
  return output.result(text, list) ? exit_done : exit_refused;
}

inline std::string_view state_name(cdi::SpecDir::State state) {
  switch (state) {
    case cdi::SpecDir::State::read: return "read";
    case cdi::SpecDir::State::missing: return "missing";
    case cdi::SpecDir::State::unreadable: break;
  }
  return "unreadable";
}

inline ExitCode list_dirs(const Request& request, const Output& output) {
  const auto registry = scan_and_warn(request, output);
  std::string text;
  Json list = Json::array();
  for (const auto& dir : registry->dirs()) {
    const auto state = state_name(dir.state);
    text += fmt::format("{}  priority {}  {}  {} spec{}\n", printable(dir.path), dir.priority,
                        state, dir.specs, dir.specs == 1 ? "" : "s");
    list.push_back(
        {{"path", dir.path}, {"priority", dir.priority}, {"state", state}, {"specs", dir.specs}});
  }
  return output.result(text, list) ? exit_done : exit_refused;
}

#endif  // CDI_EXAMPLES_CDI_LIST_COMMANDS_HPP
