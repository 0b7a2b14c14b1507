// The command `detect`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_PREPARE_COMMANDS_DETECT_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_DETECT_HPP

#include "../base/options.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "report.hpp"
#include "verdict.hpp"

namespace prepare {

inline ExitCode show_gpus(const AssessedSurvey& assessed, const Options& options) {
  print_error(survey_lines(assessed, options));
  const auto& found = assessed.survey.inventories;
  return finish(options.json() ? model_as_json(found) : model_as_text(found),
                assessed.verdict.code);
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_DETECT_HPP
