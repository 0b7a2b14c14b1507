// `cdi inject`: injects devices into an OCI config.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
#define CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config_file.hpp"
#include "exit_codes.hpp"
#include "hooks_option.hpp"
#include "in_place.hpp"
#include "inject_checks.hpp"
#include "output.hpp"
#include "policy_command.hpp"
#include "request.hpp"
#include "resolve_command.hpp"
#include "resolved_links.hpp"
#include "unresolved_record.hpp"

/// Reads the config; with `--in-place`, from the file that will be replaced.
inline cdi::Result<FileInPlace> read_config(const Request& request) {
  if (request.in_place) return read_in_place(request.config);
  const bool from_input = request.config == "-";
  auto text = from_input ? read_standard_input() : cdi::read_file(request.config);
  if (!text) return std::move(text).error();
  return FileInPlace{.path = from_input ? "standard input" : request.config,
                     .text = *std::move(text)};
}

/// Whether the names resolve, and no file is in conflict with another.
inline bool is_unambiguous(const cdi::Registry& registry, const Request& request) {
  for (const auto& error : registry.errors()) {
    if (error.code == cdi::Errc::conflict) return false;
  }
  return registry.resolve_all(request.names).has_value();
}

/// The specs of the devices. Warns of those that are not used.
inline std::shared_ptr<const cdi::Registry> scan_for_devices(const Request& request,
                                                             const Output& output) {
  auto registry = scan(request, request.reading);
  if (!is_unambiguous(*registry, request)) registry = scan_with_places(request);
  if (!request.quiet) warn(request, *registry, output);
  return registry;
}

/// Prints an edited config, whose text was `before`.
inline ExitCode print_config(const std::string& before, const cdi::ConfigJson& config,
                             const Output& output) {
  if (output.format() != OutputFormat::yaml) {
    return output.print(config.text) ? exit_done : exit_refused;
  }
  const auto edited = parse_config(config.text, config.file);
  if (edited) return output.print(to_yaml(*edited)) ? exit_done : exit_refused;
  // Most errors are those of the text that the user has; a text near a limit may only now be over.
  const auto given = parse_config(before, config.file);
  return output.refuse(given ? edited.error() : given.error());
}

/// Reports the hooks of the devices, with their places in the files. Whether there are any.
inline bool report_hooks(std::span<const cdi::ResolvedDevice> devices, const Request& request,
                         const Output& output) {
  if (hooks_of(devices).empty()) return false;
  const auto registry = scan_with_places(request);
  const auto hooks = hooks_of(registry->resolvable(request.names));
  const auto reported = std::min(hooks.size(), cdi::most_warnings);
  for (const auto& hook : std::span{hooks}.first(reported)) output.error(refusal_of(hook));
  if (reported < hooks.size()) {
    output.error({.message = fmt::format("--hooks refuse: the devices have {} more hooks",
                                         hooks.size() - reported)});
  }
  return true;
}

/// With `--resolve-links`, judges the devices as they are in the files, and replaces them by copies
/// without links, which are then judged and injected.
inline ExitCode resolve_links(const Request& request, std::vector<cdi::ResolvedDevice>& devices,
                              ResolvedLinks& resolved, const Output& output) {
  if (!request.host.resolve_links) return exit_done;
  if (const auto code = enforce_policy(request, devices, output); code != exit_done) return code;
  for (const auto& found : devices) {
    if (const auto done = resolved.add(found, request.host.root); !done) {
      return output.refuse(done.error());
    }
  }
  devices = resolved.devices();
  return exit_done;
}

/// The checks of the options of `inject`.
inline ExitCode check_devices(const Request& request,
                              const std::vector<cdi::ResolvedDevice>& devices,
                              const Output& output) {
  if (const auto code = enforce_policy(request, devices, output); code != exit_done) return code;
  if (request.hooks == "refuse" && report_hooks(devices, request, output)) return exit_refused;
  if (const auto code = report_unsupported(request, devices, output); code != exit_done) {
    return code;
  }
  report_drift(request, devices, output);
  return exit_done;
}

/// Prints or writes an edited config.
inline ExitCode deliver(const Request& request, const FileInPlace& file,
                        const cdi::ConfigJson& config, const Output& output) {
  if (!request.in_place) return print_config(file.text, config, output);
  const auto written = replace_in_place(file, config.text);
  return written ? exit_done : output.refuse(written.error());
}

inline Json change_json(const cdi::Change& change) {
  const auto entry = [&](const std::string& text) {
    return text.empty() || change.part == "process.env" ? Json(text) : Json::parse(text);
  };
  Json record{{"change", name_of(change.kind)}, {"part", change.part}, {"key", change.key}};
  if (change.kind != cdi::ChangeKind::added) record["before"] = entry(change.before);
  if (change.kind != cdi::ChangeKind::removed) record["after"] = entry(change.after);
  if (change.from) record["from"] = *change.from;
  if (change.to) record["to"] = *change.to;
  return record;
}

/// Prints what an injection changes in a config.
inline ExitCode print_diff(const Request& request, const cdi::Registry& registry,
                           const std::vector<cdi::ResolvedDevice>& devices, cdi::ConfigJson config,
                           const Output& output) {
  std::vector<cdi::Change> changes;
  cdi::detail::Recorded<cdi::ConfigJson> recorded{config, changes};
  const cdi::HostWithOptions<> host{request.host};
  if (const auto done = registry.inject_resolved(recorded, devices, host); !done) {
    return output.refuse(done.error());
  }
  std::vector<std::string> names;  // with --partial, some do not resolve
  for (const auto& found : devices) {
    names.push_back(cdi::qualified_name(found.spec->spec.kind, found.device->name));
  }
  const auto plan = cdi::plan(registry, names, host);
  if (plan && !request.quiet) warn_of_overlaps(*plan, output);
  std::string text;
  Json list = Json::array();
  for (const auto& change : changes) {
    text += to_string(change) + "\n";
    list.push_back(change_json(change));
  }
  return output.result(text, list) ? exit_done : exit_refused;
}

inline ExitCode inject(const Request& request, const Output& output) {
  const auto file = read_config(request);
  if (!file) return output.refuse(file.error());
  const auto registry = scan_for_devices(request, output);
  const auto missing = registry->unresolved(request.names);
  for (const auto& one : missing) report_unresolved(one, output);
  if (!missing.empty() && !request.partial) return exit_refused;
  auto devices = registry->resolvable(request.names);
  ResolvedLinks resolved;
  if (!request.policy.empty()) {
    if (const auto code = resolve_links(request, devices, resolved, output); code != exit_done) {
      return code;
    }
  }
  if (const auto code = check_devices(request, devices, output); code != exit_done) return code;
  const cdi::HostWithOptions<> host{request.host};
  cdi::ConfigJson config{.text = file->text, .file = file->path};
  if (const auto done = registry->inject_resolved(config, devices, host); !done) {
    const auto located = scan_with_places(request)->inject_resolvable(config, request.names, host);
    return output.refuse(located ? done.error() : located.error());
  }
  if (request.hooks == "lower") {
    if (const auto done = lower_hooks(config, *file, request, output); !done) {
      return output.refuse(done.error());
    }
  }
  const auto delivered = request.diff ? print_diff(request, *registry, devices,
                                                   {.text = file->text, .file = file->path}, output)
                                      : deliver(request, *file, config, output);
  if (delivered != exit_done || missing.empty()) return delivered;
  return exit_code_of(missing.front().reason);
}

#endif  // CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
