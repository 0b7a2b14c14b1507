// `cdi inject`: injects devices into an OCI config.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
#define CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP

#include <memory>
#include <string>
#include <utility>

#include "config_file.hpp"
#include "exit_codes.hpp"
#include "in_place.hpp"
#include "output.hpp"
#include "request.hpp"

/// Reads the config; with `--in-place`, from the file that will be replaced.
inline cdi::Result<FileInPlace> read_config(const Request& request) {
  if (request.in_place) return read_in_place(request.config);
  const bool from_input = request.config == "-";
  auto text = from_input ? read_standard_input() : cdi::read_file(request.config);
  if (!text) return std::move(text).error();
  return FileInPlace{.path = from_input ? "standard input" : request.config,
                     .text = *std::move(text)};
}

/// The specs of the devices. With `--quiet`, only of those files that can define them.
inline std::shared_ptr<const cdi::Registry> scan_for_devices(const Request& request,
                                                             const Output& output) {
  if (!request.quiet) return scan_and_warn(request, output);
  return cdi::scan_spec_dirs_for(request.names, request.spec_dirs, request.reading);
}

/// Prints an edited config, whose text was `before`.
inline ExitCode print_config(const std::string& before, const cdi::ConfigJson& config,
                             const Output& output) {
  if (output.format() != OutputFormat::yaml) {
    return output.print(config.text) ? exit_done : exit_refused;
  }
  // The errors are about the text that the user has.
  if (const auto value = parse_config(before, config.file); !value) {
    return output.refuse(value.error());
  }
  return output.print(to_yaml(*parse_config(config.text, config.file))) ? exit_done : exit_refused;
}

inline ExitCode inject(const Request& request, const Output& output) {
  const auto file = read_config(request);
  if (!file) return output.refuse(file.error());
  const auto registry = scan_for_devices(request, output);
  const auto devices = registry->resolve_all(request.names);
  if (!devices) {
    for (const auto& one : registry->unresolved(request.names)) output.error(one.why);
    return exit_refused;
  }
  cdi::ConfigJson config{.text = file->text, .file = file->path};
  if (const auto done = registry->inject_resolved(config, *devices); !done) {
    return output.refuse(done.error());
  }
  if (!request.in_place) return print_config(file->text, config, output);
  if (const auto written = replace_in_place(*file, config.text); !written)
    return output.refuse(written.error());
  return exit_done;
}

#endif  // CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
