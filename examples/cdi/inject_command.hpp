// `cdi inject`: injects devices into an OCI config.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
#define CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP

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

inline ExitCode inject(const Request& request, const Output& output) {
  const auto file = read_config(request);
  if (!file) return output.refuse(file.error());
  auto config = parse_config(file->text, file->path);
  if (!config) return output.refuse(config.error());
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
    return output.refuse(error);
  }
  if (!request.in_place) {
    const bool printed = output.print(
        output.format() == OutputFormat::yaml ? to_yaml(config->document) : config_text(*config));
    return printed ? exit_done : exit_refused;
  }
  if (const auto written = replace_in_place(*file, config_text(*config)); !written)
    return output.refuse(written.error());
  return exit_done;
}

#endif  // CDI_EXAMPLES_CDI_INJECT_COMMAND_HPP
