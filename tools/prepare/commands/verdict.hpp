// The verdict on a survey: the exit code, and why the run may be too early.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/directory_lock.hpp"
#include "../../gpu/survey/survey.hpp"
#include "exit_codes.hpp"
#include "output.hpp"

// The verdict is computed once, before a command acts on the survey.

namespace prepare {

/// The error if all GPUs are left out for lasting reasons.
inline constexpr std::string_view nothing_to_hand_out = "no device can be handed out";

/// The consequences of a survey for a run.
struct Verdict {
  ExitCode code = ExitCode::done;        // of a run without other errors
  std::vector<std::string> not_ready{};  // why it may be too early, a line each
  bool held_back = false;                // fewer GPUs than expected, or not all are known: specs do
                                         // not change
};

/// A survey with its verdict.
struct AssessedSurvey {
  Survey survey;
  Verdict verdict{};
  std::map<std::string, cdi::Error> unmade{};  // by path: why missing nodes cannot be made
  DirectoryLock lock{};                        // of the specs, for a run that changes them
  double wait_left = 0;                        // seconds of `--wait`, for another survey
  Options options{};                           // given options, and kept ones
};

Verdict verdict_on(const Survey& survey, const Options& options);

/// Reports why a survey failed. Returns the exit code.
ExitCode fail(const Options& options, const cdi::Error& error);

/// Surveys the host until all GPUs are ready or the `--wait` time has elapsed. With `locked`, the
/// result holds the lock on the directory of the specs since before the survey, unless the
/// directory is missing, has no locks, or is locked by another process. Each survey keeps the
/// options that files record at that time: another run may have written them during the wait.
cdi::Result<AssessedSurvey> survey_until_ready(const Options& given,
                                               std::optional<Missing> locked = std::nullopt);

/// Returns a function that surveys the host and acts on the result, with the command's own options
/// if it has any.
template <class... Own>
auto after_survey(ExitCode (*act)(const AssessedSurvey&, const Options&, const Own&...),
                  const std::shared_ptr<Own>&... own) {
  return [=](const Options& options) {
    const auto found = survey_until_ready(options);
    return found ? act(*found, found->options, *own...) : fail(options, found.error());
  };
}

/// The faults of a survey.
Messages survey_messages(const AssessedSurvey& assessed, const Options& options);

}  // namespace prepare
