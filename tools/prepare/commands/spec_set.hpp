// The specs for a survey and the reports about them, for `write`, `check` and `watch`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "verdict.hpp"

namespace prepare {

/// The specs that the directory should contain.
struct SpecSet {
  Options options{};                  // with the version of the specs
  PreparedSpecs prepared{};           // empty if the verdict holds them back
  Verdict verdict{};                  // on the survey and the specs
  Messages messages{};                // warnings and errors, for standard error
  std::optional<cdi::Error> fault{};  // why none of the specs can be written
};

inline Messages messages_of(const PreparedSpec& prepared) {
  Messages out;
  for (const auto& warning : prepared.warnings) out.push_back(Message::warning(warning));
  for (const auto& [text, count] : grouped(prepared.losses)) {
    const auto times = count > 1 ? fmt::format(" ({} times)", count) : "";
    out.push_back(Message::warning(
        fmt::format("{}: {}: {}{}", prepared.spec.kind, prepared.spec.version, text, times)));
  }
  for (const auto& failed : prepared.left_out) {
    out.push_back(
        Message::left_out(fmt::format("{} {}: {}", failed.kind, failed.name, failed.reason)));
  }
  return out;
}

inline Messages messages_of(const PreparedSpecs& prepared, const VersionChoice& choice) {
  Messages out;
  for (const auto& warning : choice.warnings) out.push_back(Message::warning(warning));
  if (!prepared.hooks_fault.empty()) out.push_back(Message::warning(prepared.hooks_fault));
  if (prepared.is_converted() && !choice.options.oldest_engine.empty()) {
    out.push_back(Message::note("specs are " + reason_for_version(choice.options)));
  }
  for (const auto& one : prepared.specs) append(out, messages_of(one));
  for (const auto& error : prepared.failed) {
    out.push_back({Message::Kind::not_ready, error});
  }
  return out;
}

/// Adds faults in the specs to the verdict on the survey.
inline void add_to_verdict(Verdict& verdict, const PreparedSpecs& prepared) {
  for (const auto& one : prepared.specs) {
    const bool complete = one.left_out.empty();
    if (!complete && verdict.code == ExitCode::done) verdict.code = ExitCode::partial;
  }
  for (const auto& error : prepared.failed) {
    verdict.not_ready.push_back(cdi::to_string(error));
    verdict.code = ExitCode::not_ready;
  }
}

/// Holds all specs back if their files cannot have the chosen format.
inline void check_format(SpecSet& wanted, const Options& options) {
  if (wanted.prepared.specs.empty()) return;
  wanted.fault = format_fault(options);
  if (!wanted.fault) return;
  wanted.messages.push_back(Message::error(*wanted.fault));
  wanted.prepared = {};
  wanted.verdict.held_back = true;
  wanted.verdict.code = ExitCode::failed;
}

inline SpecSet make_spec_set(const AssessedSurvey& assessed, VersionChoice choice) {
  SpecSet wanted{.verdict = assessed.verdict,
                 .messages = survey_messages(assessed, choice.options)};
  if (!wanted.verdict.held_back) {
    wanted.prepared = prepare_specs(assessed.survey, choice.options);
    append(wanted.messages, messages_of(wanted.prepared, choice));
    add_to_verdict(wanted.verdict, wanted.prepared);
    check_format(wanted, choice.options);
  }
  wanted.options = std::move(choice.options);
  return wanted;
}

}  // namespace prepare
