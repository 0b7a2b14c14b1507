// The command `write`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "write.hpp"

#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../gpu/cdi_specs/conflicts.hpp"
#include "../../gpu/cdi_specs/kept_options.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/directory_lock.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/host/denied.hpp"
#include "../results.hpp"
#include "commands.hpp"
#include "report.hpp"
#include "selection_options.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

WrittenSpecs shown(const Written& written) {
  WrittenSpecs out{
      .left_out = written.left_out, .not_ready = written.not_ready, .warnings = written.warnings};
  for (const auto& [done, prepared] : written.specs) {
    out.specs.push_back({done.path, cdi::to_string(done.action), prepared.spec.kind,
                         qualified_names(prepared.spec)});
  }
  for (const auto& file : written.removed) out.removed.push_back(file.path);
  for (const auto& error : written.errors) out.errors.push_back(cdi::to_string(error));
  return out;
}

std::string to_text(const Written& written) {
  std::string out;
  for (const auto& [done, prepared] : written.specs) {
    out += as_line(done.path);
    for (const auto& name : qualified_names(prepared.spec)) out += as_line(name);
  }
  return out;
}

/// Publishes the specs. An error in one does not affect the others.
void publish_all(const std::vector<PreparedSpec>& prepared, const Options& options,
                 Written& written) {
  for (const auto& one : prepared) {
    if (auto done = publish(options, one)) {
      written.specs.emplace_back(std::move(*done), one);
    } else {
      written.errors.push_back(tools::with_denied_advice(done.error(), "--output-dir"));
    }
  }
}

/// Removes the specs of kinds without usable GPUs, and temporary files of killed writers.
void remove_outdated(const Survey& survey, const SpecSet& wanted, Written& written) {
  const auto& options = wanted.options;
  if (!knows_all_kinds(survey, options)) return;
  const auto fail = [&](const cdi::Error& error) {
    written.errors.push_back(error);
  };
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory) {
    if (written.errors.empty()) fail(directory.error());  // otherwise a spec has the same error
    return;
  }
  const auto keep = files_to_keep(*directory, wanted.prepared, options);
  if (!keep) return fail(keep.error());
  const auto done = publisher_in(*directory).prune(*keep);
  if (!done) return fail(done.error());
  for (const auto& error : done->errors) fail(error);
  written.removed = outdated_among(*done, survey, wanted.prepared);
}

/// The text of all specs as one stream.
Output specs_as_text(const std::vector<PreparedSpec>& specs, const Options& options) {
  std::string out;
  for (const auto& one : specs) {
    const bool as_json = options.json() || one.file_name.ends_with(".json");
    auto text = cdi::write_spec(owned(one), as_json ? cdi::Format::json : cdi::Format::yaml);
    if (!text) return text;
    out += *text;
  }
  return out;
}

/// The errors about nodes that could not be made and without which GPUs cannot be handed out.
std::vector<cdi::Error> errors_of_nodes(const AssessedSurvey& assessed, const SpecSet& wanted) {
  std::set<std::string> lacking;
  for (const auto& found : assessed.survey.inventories) {
    if (found.not_ready) lacking.insert(found.not_ready->node);
    if (!wanted.prepared.failed.empty()) {
      for (const auto& node : found.control_nodes) lacking.insert(node.path);
    }
    for (const auto& one : left_out(found)) lacking.insert(one.node);
  }
  for (const auto& one : wanted.prepared.left_out) lacking.insert(one.node);
  std::vector<cdi::Error> out;
  for (const auto& [path, error] : assessed.unmade) {
    if (lacking.contains(path)) out.push_back(error);
  }
  return out;
}

Run set_up_write(CLI::App& app, Options& options) {
  auto own = std::make_shared<WriteOptions>();
  add_spec_options(app, options);
  add_content_options(app, options);
  add_survey_options(app, options);
  add_wait(app, options);
  add_output(app, options);
  app.add_flag(
      "--dry-run", own->dry_run,
      "Print the specs, one after the other, and with --make-nodes the missing nodes; write "
      "nothing");
  add_force(app, options);
  add_make_nodes(app, options);
  add_keep_options(app, options);
  return [own](const Options& given) {
    auto shown = given;
    if (own->dry_run && given.make_nodes == MakeNodes::yes) shown.make_nodes = MakeNodes::shown;
    auto found =
        survey_until_ready(shown, own->dry_run ? std::nullopt : std::optional{Missing::stays});
    return found ? write_specs(std::move(*found), shown, *own) : fail(given, found.error());
  };
}

}  // namespace

Messages messages_of(const Written& written) {
  Messages out;
  for (const auto& error : written.errors) out.push_back(Message::error(error));
  for (const auto& text : written.warnings) out.push_back(Message::warning(text));
  for (const auto& [path, reason] : written.removed) {
    out.push_back(Message::note(fmt::format("{} removed: {}", path, reason)));
  }
  return out;
}

bool needs_directory(const AssessedSurvey& assessed, const SpecSet& wanted) {
  return assessed.lock.state() == DirectoryLock::State::missing && !wanted.prepared.specs.empty();
}

ExitCode update_specs(AssessedSurvey& assessed, const SpecSet& wanted, Written& written) {
  const auto lock = std::exchange(assessed.lock, {});
  written.left_out = wanted.prepared.left_out;
  written.not_ready = wanted.verdict.not_ready;
  if (wanted.verdict.held_back) return wanted.verdict.code;
  publish_all(wanted.prepared.specs, wanted.options, written);
  written.warnings = find_conflicts(wanted.options, wanted.prepared.specs);
  if (lock.state() != DirectoryLock::State::missing) {
    remove_outdated(assessed.survey, wanted, written);
  }
  return written.errors.empty() ? wanted.verdict.code : ExitCode::failed;
}

ExitCode write_specs(AssessedSurvey assessed, const Options& given, const WriteOptions& own) {
  const auto wanted = make_spec_set(assessed, choose_version(assessed.survey, assessed.options));
  if (!own.dry_run && needs_directory(assessed, wanted)) {
    auto options = given;
    options.make_nodes = MakeNodes::no;  // done, and reported
    options.wait = assessed.wait_left;
    auto again = survey_until_ready(options, Missing::made);
    if (!again) return fail(given, again.error());
    again->unmade = std::move(assessed.unmade);
    return write_specs(std::move(*again), given, own);
  }
  const auto& options = wanted.options;
  if (own.dry_run) {
    report(wanted.messages);
    return finish(specs_as_text(wanted.prepared.specs, options), wanted.verdict.code);
  }
  Written written;
  auto code = update_specs(assessed, wanted, written);
  report(wanted.messages);
  report(messages_of(written));
  if (wanted.verdict.code == ExitCode::failed) {
    written.errors.push_back(
        wanted.fault.value_or(cdi::Error{.message = std::string{nothing_to_hand_out}}));
  }
  for (auto& error : errors_of_nodes(assessed, wanted)) {
    written.errors.push_back(std::move(error));
    code = ExitCode::failed;
  }
  return finish(options.json() ? tools::json_text(shown(written)) : to_text(written), code);
}

constexpr Command write_command{"write", "Write CDI specs for the devices of this host",
                                set_up_write,
                                "cdi-prepare write --profile compute --wait 60 --expect 8"};

}  // namespace prepare
