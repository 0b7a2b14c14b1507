// The commands `check` and `diff`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/conflicts.hpp"
#include "../../gpu/cdi_specs/kept_options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/cdi_specs/spec_differences.hpp"
#include "../../gpu/cdi_specs/spec_file.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../../kit/base/result_text.hpp"
#include "../results.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "selection_options.hpp"
#include "spec_set.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The maximum number of changes printed for a file.
enum class Differences : std::uint8_t { first, all };

/// Why one of our specs differs from the expected spec.
std::string_view reason_for_changes(const cdi::Spec& spec, const cdi::Spec& expected) {
  const auto options_in = [](const cdi::Spec& one) {
    const auto found = one.annotations.find(tools::options_annotation);
    return found == one.annotations.end() ? std::string{} : found->second;
  };
  if (options_in(spec) != options_in(expected)) return "it was written with different options";
  return "the host has changed";
}

/// Whether another program may own a spec file, so that `write` would not replace it.
bool is_of_others(const Directory& directory, const PreparedSpec& prepared) {
  const auto tried =
      publisher_in(directory).write(prepared.file_name, prepared.spec, cdi::DryRun::yes);
  return !tried && tried.error().code == cdi::Errc::conflict;
}

/// The difference between a spec file and the spec that `write` would write now; nullopt if they
/// are equal.
std::optional<StaleSpec> compare(const Directory& directory, const PreparedSpec& prepared,
                                 const Options& options) {
  const auto path = spec_path(options, prepared.file_name);
  const auto there = read_with_options(path);
  if (!there && there.error().system == ENOENT) return StaleSpec{path, "it does not exist", {}};
  if (!there) return StaleSpec{path, cdi::to_string(there.error()), {}};
  auto expected = owned(prepared);
  add_commented_options(expected, prepared.options_comment);
  Texts found;
  for (const auto& change : changes(there->spec, expected)) found.push_back(to_text(change));
  if (is_of_others(directory, prepared)) {
    return StaleSpec{path, "another program wrote it", std::move(found)};
  }
  if (!found.empty()) {
    return StaleSpec{path, std::string{reason_for_changes(there->spec, expected)},
                     std::move(found)};
  }
  if (!is_readable_by_all(path)) return StaleSpec{path, "not all users can read it", {}};
  return std::nullopt;
}

/// The files and their changes. `check` prints only the first changes; annotations come first and
/// show the cause.
std::string to_text(const std::vector<StaleSpec>& stale, Differences wanted) {
  std::string out;
  for (const auto& [path, reason, changes] : stale) {
    out += as_line(fmt::format("{}: {}", path, reason));
    constexpr std::size_t few = 8;
    const auto shown = wanted == Differences::all ? changes.size() : std::min(few, changes.size());
    for (std::size_t i = 0; i < shown; ++i) out += "  " + changes[i] + "\n";
    if (shown == changes.size()) continue;
    out += fmt::format("  and {} more, which `diff` with the same options shows\n",
                       changes.size() - shown);
  }
  return out;
}

/// Adds the file of a kind that `write` would change, and the file with another `--format` that it
/// would remove. If only the latter exists, the former is not reported as missing.
void add_stale(const Directory& directory, const PreparedSpec& one, const Options& options,
               std::vector<StaleSpec>& stale) {
  auto changed = compare(directory, one, options);
  const auto other = remove_other_format(publisher_in(directory), one.file_name, cdi::DryRun::yes);
  if (other && *other) {
    const auto loaded = cdi::read_spec_file(spec_path(options, one.file_name));
    const bool is_only_one = !loaded && loaded.error().system == ENOENT;
    auto path = spec_path(options, name_in_other_format(one.file_name));
    const bool is_outdated = std::any_of(
        stale.begin(), stale.end(), [&](const StaleSpec& known) { return known.path == path; });
    if (!is_outdated) {
      stale.push_back({std::move(path),
                       is_only_one
                           ? fmt::format("it was written with --format {0}: check it with --format "
                                         "{0}",
                                         options.format == "json" ? "yaml" : "json")
                           : "its kind has a file in another format",
                       {}});
    }
    if (is_only_one) return;
  }
  if (changed) stale.push_back(*std::move(changed));
}

/// The spec files that `write` would change now.
cdi::Result<std::vector<StaleSpec>> find_stale(const Survey& survey, const SpecSet& wanted) {
  const auto outdated = outdated_files(survey, wanted.prepared, wanted.options);
  if (!outdated) return outdated.error();
  const auto directory = open_directory(wanted.options, wanted.options.output_dir, Missing::stays);
  if (!directory) return directory.error();
  std::vector<StaleSpec> stale;
  for (const auto& [path, reason] : *outdated) stale.push_back({path, std::string{reason}, {}});
  for (const auto& one : wanted.prepared.specs) {
    add_stale(*directory, one, wanted.options, stale);
  }
  return stale;
}

/// Compares the spec files with the specs that `write` would write now. Writes nothing.
ExitCode check_specs(const AssessedSurvey& assessed, const Options& given,
                     const Differences& shown) {
  const auto wanted = make_spec_set(assessed, choose_version(assessed.survey, given));
  const auto& [options, prepared, verdict, messages, fault] = wanted;
  report(messages);
  CheckResult result{.not_ready = verdict.not_ready};
  if (verdict.held_back) {
    return finish(options.json() ? tools::json_text(result) : "", verdict.code);
  }
  auto stale = find_stale(assessed.survey, wanted);
  if (!stale) return finish(stale.error(), ExitCode::failed);
  result.stale = std::move(*stale);
  result.warnings = find_conflicts(options, prepared.specs);
  for (const auto& conflict : result.warnings) report(Message::warning(conflict));
  auto code = verdict.code;
  if (code == ExitCode::partial) code = ExitCode::done;  // the spec files lack the same GPUs
  if (!result.stale.empty()) code = ExitCode::failed;
  return finish(options.json() ? tools::json_text(result) : to_text(result.stale, shown), code);
}

template <Differences shown>
Run set_up_check(CLI::App& app, Options& options) {
  add_spec_options(app, options);
  add_content_options(app, options);
  add_survey_options(app, options);
  add_wait(app, options);
  add_keep_options(app, options);
  add_output(app, options);
  return after_survey(check_specs, std::make_shared<Differences>(shown));
}

}  // namespace

constexpr Command check_command{"check", "Check whether the specs are what `write` would write now",
                                set_up_check<Differences::first>, "cdi-prepare check"};

constexpr Command diff_command{"diff",
                               "Show how the specs differ from what `write` would write now",
                               set_up_check<Differences::all>, "cdi-prepare diff"};

}  // namespace prepare
