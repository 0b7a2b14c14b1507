// The command `detect`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../gpu/base/options.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "make_nodes.hpp"
#include "output.hpp"
#include "report.hpp"
#include "selection_options.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

ExitCode show_gpus(const AssessedSurvey& assessed, const Options& options) {
  report(survey_messages(assessed, options));
  if (const auto advice = advice_on_nodes(options); !advice.empty()) report(Message::note(advice));
  const auto& found = assessed.survey.inventories;
  return finish(options.json() ? model_as_json(found) : model_as_text(found),
                assessed.verdict.code);
}

Run set_up_detect(CLI::App& app, Options& options) {
  add_driver_place(app, options);
  add_selection(app, options);
  add_survey_options(app, options);
  add_wait(app, options);
  add_output(app, options);
  return after_survey(show_gpus);
}

}  // namespace

constexpr Command detect_command{"detect", "Show the devices of this host", set_up_detect,
                                 "cdi-prepare detect -o json"};

}  // namespace prepare
