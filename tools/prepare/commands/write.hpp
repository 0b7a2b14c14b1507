// The command `write`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/cdi_specs/spec_file.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "spec_set.hpp"
#include "verdict.hpp"

namespace prepare {

/// The options of `write`.
struct WriteOptions {
  bool dry_run = false;
};

/// The outcome of `write`.
struct Written {
  std::vector<std::pair<cdi::Publication, PreparedSpec>> specs{};
  std::vector<Outdated> removed{};
  std::vector<LeftOut> left_out{};
  std::vector<std::string> not_ready{};
  std::vector<cdi::Error> errors{};
  std::vector<std::string> warnings{};
};

/// Errors, warnings and removed files.
Messages messages_of(const Written& written);

/// Whether the specs need a directory that was missing at the survey: another run may have made it
/// since, and surveyed a newer state of the host.
bool needs_directory(const AssessedSurvey& assessed, const SpecSet& wanted);

/// Writes the planned specs, removes outdated specs, unless there was no directory, and releases
/// the lock. A kind that is not ready keeps its old spec; with `held_back`, all kinds do.
ExitCode update_specs(AssessedSurvey& assessed, const SpecSet& wanted, Written& written);

ExitCode write_specs(AssessedSurvey assessed, const Options& given, const WriteOptions& own);

}  // namespace prepare
