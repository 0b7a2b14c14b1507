// `cdi convert`: prints a spec file in another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP
#define CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

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
  const auto release = cdi::newest_release_for(engine);
  return release ? std::string{} : release.error().message;
}

/// The table that `cdi convert --help` prints.
inline std::string engine_table() {
  std::string text =
      "Each engine, a version, the newest CDI release that this version reads, and the source:\n";
  for (const auto& row : cdi::engine_releases) {
    text += fmt::format("  {:<10}  {:<7}  {}  {}\n", row.engine, to_string(row.since),
                        to_string(row.newest), row.source);
  }
  text +=
      "Between two rows, an engine may already read the newer release; after the last row, it "
      "reads\n"
      "at least that release.\n";
  return text;
}

/// The release of `--to`; for an engine, the release of the spec if the engine reads it. The
/// command line was checked before.
inline cdi::Release target_release(const Request& request, const cdi::Spec& spec) {
  if (request.engine.empty()) return *cdi::parse_release(request.release);
  return std::min(*cdi::parse_release(spec.version), *cdi::newest_release_for(request.engine));
}

/// Removes the annotations whose keys may be read, but not written. `where` is the path of their
/// object, with a dot at its end.
inline void drop_annotations(decltype(cdi::Spec::annotations)& annotations,
                             const std::string& where, std::vector<cdi::Loss>& losses) {
  std::erase_if(annotations, [&](const auto& entry) {
    const auto good = cdi::check_annotation_key(entry.first);
    if (good) return false;
    const auto member = entry.first.empty() ? "" : "." + entry.first;
    losses.push_back({.where = fmt::format("{}annotations{}", where, member),
                      .what = "the annotation",
                      .breaks = good.error().message});
    return true;
  });
}

/// The same for a whole spec. Returns what is lost.
inline std::vector<cdi::Loss> drop_annotations(cdi::Spec& spec) {
  std::vector<cdi::Loss> losses;
  drop_annotations(spec.annotations, "", losses);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    drop_annotations(spec.devices[i].annotations, fmt::format("devices[{}].", i), losses);
  }
  return losses;
}

/// Reports what is lost, each loss at its place.
inline void report_losses(const Request& request, const cdi::LoadedSpec& loaded,
                          const std::vector<cdi::Loss>& losses, const Output& output) {
  std::size_t located = 0;  // locating takes longer, the more devices precede
  for (const auto& loss : losses) {
    cdi::Error error = cdi::to_error(loss);
    error.position.file = request.file;
    if (++located <= cdi::most_warnings) error.position = loaded.locate(error.where);
    request.lossy ? output.warning(error) : output.error(error);
  }
}

/// Whether the file has more documents than the one that was read, which the result will lack.
inline bool has_further_documents(const cdi::LoadedSpec& loaded) {
  const auto code = cdi::row_of(cdi::Rule::single_document).code;
  return std::any_of(loaded.warnings.begin(), loaded.warnings.end(),
                     [&](const cdi::Error& warning) { return warning.rule == code; });
}

/// Whether the engine of `--for` reads the file as it is. An annotation key that may be read, but
/// not written, does not matter then.
inline bool is_read_already(const Request& request, const cdi::LoadedSpec& loaded) {
  const auto code = cdi::row_of(cdi::Rule::annotation_key).code;
  return !request.engine.empty() &&
         target_release(request, loaded.spec) == cdi::parse_release(loaded.spec.version) &&
         std::all_of(loaded.warnings.begin(), loaded.warnings.end(),
                     [&](const cdi::Error& warning) { return warning.rule == code; });
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
  for (const auto& warning : loaded->warnings) {
    const bool is_reported_as_loss = warning.rule == cdi::row_of(cdi::Rule::annotation_key).code;
    if (!is_reported_as_loss) output.warning(warning);
  }
  if (output.format() == OutputFormat::text && is_read_already(request, *loaded)) {
    return print_file(request, output);
  }
  const auto release = target_release(request, loaded->spec);
  auto spec = loaded->spec;
  auto losses = drop_annotations(spec);
  auto lowered = cdi::lower(spec, release, cdi::Losses::allow);
  if (!lowered) {
    auto& error = lowered.error();
    error.position = loaded->locate(error.where);
    return output.refuse(error);
  }
  losses.insert(losses.end(), lowered->losses.begin(), lowered->losses.end());
  report_losses(request, *loaded, losses, output);
  if (!request.lossy && (!losses.empty() || has_further_documents(*loaded)))
    return output.refuse({.message = fmt::format("not converted to {}; --lossy converts it anyway",
                                                 to_string(release)),
                          .position = {.file = request.file}});
  const auto format = output.format() == OutputFormat::json   ? cdi::Format::json
                      : output.format() == OutputFormat::yaml ? cdi::Format::yaml
                                                              : *cdi::format_of(request.file);
  auto text = cdi::write_spec(lowered->spec, format);
  if (!text) {
    text.error().position.file = request.file;
    return output.refuse(text.error());
  }
  return output.print(*text) ? exit_done : exit_refused;
}

#endif  // CDI_EXAMPLES_CDI_CONVERT_COMMAND_HPP
