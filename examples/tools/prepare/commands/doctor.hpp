// The command `doctor`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_PREPARE_COMMANDS_DOCTOR_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_DOCTOR_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../base/options.hpp"
#include "../cdi_specs/version_choice.hpp"
#include "../doctor/doctor.hpp"
#include "../doctor/finding.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "verdict.hpp"

namespace prepare {

/// Refuses a directory that the engines of the host below the root cannot see.
inline ExitCode reject_outside(std::string_view option, const std::string& path,
                               const Options& options) {
  report(
      fmt::format("error: {} {} is not below --root {}: doctor checks only that host; name one of "
                  "its directories",
                  option, path, options.root));
  return ExitCode::usage;
}

inline ExitCode examine_host(const AssessedSurvey& assessed, const Options& options) {
  const auto& survey = assessed.survey;
  DoctorOptions requested;
  std::vector<std::string> dirs;
  for (const auto& dir : options.spec_dirs) {
    auto place = options.place_on_host(dir);
    if (!place) return reject_outside("--spec-dir", dir, options);
    dirs.push_back(std::move(*place));
  }
  if (!dirs.empty()) requested.spec_dirs = std::move(dirs);
  const auto output_dir = options.place_on_host(options.output_dir);
  if (!output_dir) return reject_outside("--output-dir", options.output_dir, options);
  requested.output_dir = *output_dir;
  const auto state_dir = options.place_on_host(options.state_dir);
  if (!state_dir) return reject_outside("--state-dir", options.state_dir, options);
  requested.state_dir = *state_dir;
  requested.versions_from = versions_from(options);
  const auto findings = diagnose_host(survey, requested);
  return finish(options.json() ? findings_as_json(findings) : findings_as_text(findings),
                has_fault(findings) ? ExitCode::failed : ExitCode::done);
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_DOCTOR_HPP
