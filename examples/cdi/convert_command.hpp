// `cdi convert`: prints a spec file in another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP
#define CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP

#include <string>
#include <vector>

#include <fmt/format.h>

#include <cdi/conversion.hpp>

#include "exit_codes.hpp"
#include "output.hpp"
#include "request.hpp"

/// The releases that `--to` takes.
inline std::vector<std::string> release_names() {
  std::vector<std::string> names;
  for (const auto release : cdi::spec_releases) names.push_back(to_string(release));
  return names;
}

/// Why an engine is not valid for `--for`; empty if it is.
inline std::string engine_error(const std::string& engine) {
  const auto release = cdi::written_release_for(engine);
  return release ? std::string{} : release.error().message;
}

/// The table that `cdi convert --help` prints.
inline std::string engine_table() {
  std::string text =
      "The newest CDI release that engines read, from each version on, and the newest known "
      "version:\n";
  std::string line;
  for (std::size_t i = 0; i < cdi::engine_releases.size(); ++i) {
    const auto& row = cdi::engine_releases[i];
    const bool is_first = i == 0 || row.engine != cdi::engine_releases[i - 1].engine;
    const bool is_last =
        i + 1 == cdi::engine_releases.size() || row.engine != cdi::engine_releases[i + 1].engine;
    if (is_first) line = fmt::format("  {}:", row.engine);
    if (is_first || row.newest != cdi::engine_releases[i - 1].newest) {
      const auto part = fmt::format(" {} since {},", to_string(row.newest), to_string(row.since));
      if (line.size() + part.size() > 100) {
        text += line + "\n";
        line = "   ";
      }
      line += part;
    }
    if (is_last) text += fmt::format("{} known to {}\n", line, to_string(row.last));
  }
  return text;
}

/// The spec in the release of `--to`, or in that for the engine of `--for`. The command line was
/// checked before.
inline cdi::Result<cdi::Conversion> convert_file(const Request& request,
                                                 const cdi::LoadedSpec& loaded) {
  if (request.engine.empty())
    return cdi::convert_spec(loaded, *cdi::parse_release(request.release));
  return cdi::convert_for(*cdi::parse_engine(request.engine), loaded);
}

/// Whether the engine of `--for` reads the file as it is, and no program reads it otherwise.
inline bool is_read_already(const Request& request, const cdi::LoadedSpec& loaded) {
  return !request.engine.empty() && !cdi::refusal_by(*cdi::parse_engine(request.engine), loaded) &&
         cdi::text_warnings(loaded).empty();
}

/// Prints the warnings about a file, except those that the conversion reports as losses.
inline void print_warnings(const cdi::LoadedSpec& loaded, const Output& output) {
  for (const auto& warning : loaded.warnings) {
    const bool is_loss = warning.rule == cdi::row_of(cdi::Rule::annotation_key).code ||
                         warning.rule == cdi::row_of(cdi::Rule::single_document).code;
    if (!is_loss) output.warning(warning);
  }
}

/// Prints a file unchanged.
inline ExitCode print_file(const Request& request, const Output& output) {
  const auto text = cdi::read_file(request.file, request.reading.limits.bytes);
  if (!text) return output.refuse(text.error());
  return output.print(*text) ? exit_done : exit_refused;
}

/// Prints a spec file in another release, in the format of the file unless `-o` selects another.
inline ExitCode convert(const Request& request, const Output& output) {
  const auto loaded = cdi::read_spec_file(request.file, request.reading);
  if (!loaded) return output.refuse(loaded.error());
  print_warnings(*loaded, output);
  const auto own_format = *cdi::format_of(request.file);
  const auto format = output.format() == OutputFormat::json   ? cdi::Format::json
                      : output.format() == OutputFormat::yaml ? cdi::Format::yaml
                                                              : own_format;
  if (format == own_format && is_read_already(request, *loaded)) return print_file(request, output);
  const auto converted = convert_file(request, *loaded);
  if (!converted) return output.refuse(converted.error());
  for (const auto& loss : converted->losses) {
    request.lossy ? output.warning(loss) : output.error(loss);
  }
  if (!request.lossy && !converted->losses.empty()) {
    return output.refuse({.message = fmt::format("not converted to {}; --lossy converts it anyway",
                                                 converted->spec.version),
                          .position = {.file = request.file}});
  }
  auto text = cdi::write_spec(converted->spec, format);
  if (!text) {
    text.error().position.file = request.file;
    return output.refuse(text.error());
  }
  return output.print(*text) ? exit_done : exit_refused;
}

#endif  // CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP
