// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_COMMANDS_HPP
#define CDI_EXAMPLES_CDI_COMMANDS_HPP

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "config_file.hpp"
#include "exit_codes.hpp"
#include "in_place.hpp"
#include "output.hpp"

/// What the commands are asked to do.
struct Request {
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  bool dirs_named = false;                        // by the user: then they ought to be there
  std::vector<std::string> files{};               // of `validate`
  std::string config{};                           // of `inject`
  cdi::ReadOptions reading{.keep_places = true};  // for places in errors and losses
  std::vector<std::string> names{};               // of `inject` and `why`
  bool in_place = false;                          // of `inject`
  bool strict = false;                            // of `validate`
  bool rules = false;                             // of `validate`
  std::string file{};                             // of `convert`
  std::string release{};                          // of `convert`: this, or
  std::string engine{};                           // of `convert`
  std::string asked_engine{};                     // of `why`
  bool lossy = false;                             // of `convert`
};

/// What keeps directories and files from being used.
inline std::vector<cdi::Error> faults(const Request& request, const cdi::Registry& registry) {
  auto errors = registry.errors();
  for (const auto& dir : registry.dirs()) {
    if (!request.dirs_named || dir.state != cdi::SpecDir::State::missing) continue;
    errors.push_back({.message = "no such directory", .position = {.file = dir.path}});
  }
  return errors;
}

/// Says what is doubtful about files that are used all the same.
inline void warn_of_doubts(const cdi::Registry& registry, const Output& output) {
  for (const auto& spec : registry.specs()) {
    for (const auto& warning : spec->warnings) output.warning(warning);
  }
}

/// Scans the directories, and says on standard error what of them cannot be used.
inline std::shared_ptr<const cdi::Registry> scan_and_warn(const Request& request,
                                                          const Output& output) {
  auto registry = cdi::scan_spec_dirs(request.spec_dirs, request.reading);
  for (const auto& error : faults(request, *registry)) output.warning(error);
  warn_of_doubts(*registry, output);
  return registry;
}

/// One name a line, or a list.
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

inline std::string_view severity_name(cdi::Severity severity) {
  if (severity == cdi::Severity::error) return "error";
  return severity == cdi::Severity::warning ? "warning" : "write-error";
}

/// Prints the table of rules.
inline ExitCode list_rules(const Output& output) {
  std::string text;
  Json list = Json::array();
  for (const auto& row : cdi::rules) {
    const auto severity = severity_name(row.severity);
    text += fmt::format("{:22} {:11} {} ({})\n", row.code, severity, row.demand, row.source);
    list.push_back({{"rule", row.code},
                    {"severity", severity},
                    {"demand", row.demand},
                    {"source", row.source}});
  }
  return output.result(text, list) ? exit_done : exit_refused;
}

/// Validates files, or all spec directories. The result is what is valid; one fault and there is
/// none. When strict, a doubt is a fault.
inline ExitCode validate(const Request& request, const Output& output) {
  if (request.rules) return list_rules(output);
  std::vector<std::string> valid;
  bool good = true;
  const auto take = [&](const cdi::LoadedSpec& spec) {
    valid.push_back(spec.path);
    for (const auto& warning : spec.warnings) {
      request.strict ? output.error(warning) : output.warning(warning);
      good = good && !request.strict;
    }
  };
  if (request.files.empty()) {
    const auto registry = cdi::scan_spec_dirs(request.spec_dirs, request.reading);
    const auto errors = faults(request, *registry);
    for (const auto& error : errors) output.error(error);
    good = errors.empty();
    for (const auto& spec : registry->specs()) take(*spec);
    if (good && valid.empty()) {
      cdi::Error nothing{.message = "no spec files in"};
      for (const auto& dir : request.spec_dirs) nothing.message.append(" ").append(printable(dir));
      request.strict ? output.error(nothing) : output.warning(nothing);
      good = !request.strict;
    }
  }
  for (const auto& path : request.files) {
    auto spec = cdi::read_spec_file(path, request.reading);
    if (!spec) {
      if (std::error_code none; std::filesystem::is_directory(path, none)) {
        spec.error().message = "is a directory: name a file in it, or use --spec-dir";
      }
      output.error(spec.error());
      good = false;
      continue;
    }
    take(*spec);
  }
  if (!good) return exit_refused;
  std::string text;
  for (const auto& path : valid) text.append(printable(path)).append(": valid\n");
  return output.result(text, Json{{"valid", valid}}) ? exit_done : exit_refused;
}

/// Reads the config; with --in-place, from the file that will be replaced.
inline cdi::Result<FileInPlace> read_config(const Request& request) {
  if (request.in_place) return read_in_place(request.config);
  const bool from_input = request.config == "-";
  auto text = from_input ? read_standard_input() : cdi::read_file(request.config);
  if (!text) return std::move(text).error();
  return FileInPlace{.path = from_input ? "standard input" : request.config,
                     .text = *std::move(text)};
}

inline ExitCode inject(const Request& request, const Output& output) {
  const auto file = read_config(request);
  if (!file) {
    output.error(file.error());
    return exit_refused;
  }
  auto config = parse_config(file->text, file->path);
  if (!config) {
    output.error(config.error());
    return exit_refused;
  }
  const auto registry = scan_and_warn(request, output);
  const auto devices = registry->resolve_all(request.names);
  if (!devices) {
    for (const auto& one : registry->unresolved(request.names)) output.error(one.why);
    return exit_refused;
  }
  if (auto done = registry->inject_resolved(config->document, *devices); !done) {
    auto& error = done.error();
    const bool about_config = error.position.file.empty();
    if (about_config) error.position = config->text.locate(error.where);
    output.error(error);
    return exit_refused;
  }
  if (!request.in_place) {
    const bool printed = output.print(
        output.format() == OutputFormat::yaml ? to_yaml(config->document) : config_text(*config));
    return printed ? exit_done : exit_refused;
  }
  if (const auto written = replace_in_place(*file, config_text(*config)); !written) {
    output.error(written.error());
    return exit_refused;
  }
  return exit_done;
}

#endif  // CDI_EXAMPLES_CDI_COMMANDS_HPP
