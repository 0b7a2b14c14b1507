// cdi-prepare finds the GPUs of a node and writes CDI specs for them.
// SPDX-License-Identifier: Apache-2.0

// It reads /proc and /sys, without any vendor library. A Kubernetes DRA driver can call it to
// prepare claims.

#include <variant>

#include "base/options.hpp"
#include "commands/check.hpp"
#include "commands/claim.hpp"
#include "commands/command_line.hpp"
#include "commands/detect.hpp"
#include "commands/doctor.hpp"
#include "commands/exit_codes.hpp"
#include "commands/output.hpp"
#include "commands/verdict.hpp"
#include "commands/watch.hpp"
#include "commands/write.hpp"

namespace prepare {
namespace {

/// Runs a command after the survey of the host.
ExitCode run(Command command, const AssessedSurvey& found, const Options& options) {
  switch (command) {
    case Command::detect: return show_gpus(found, options);
    case Command::write: return write_specs(found, options);
    case Command::check: return check_specs(found, options, Differences::first);
    case Command::diff: return check_specs(found, options, Differences::all);
    case Command::doctor: return examine_host(found, options);
    case Command::prepare: return prepare_claim(found, options);
    case Command::unprepare: return unprepare_claim(found, options);
    case Command::list: return list_claims(found, options);
    case Command::watch: break;  // makes its own surveys
  }
  return watch_specs(options);
}

ExitCode run(const Request& request) {
  const auto& [command, options] = request;
  if (command == Command::watch) return watch_specs(options);
  const auto found = survey_until_ready(options);
  if (!found) return finish(found.error(), ExitCode::failed);
  return run(command, *found, options);
}

}  // namespace
}  // namespace prepare

// Only a lack of memory can end it with an exception.
int main(int argc, char** argv) {
  const auto parsed = prepare::parse_command_line(argc, argv);
  const auto* const request = std::get_if<prepare::Request>(&parsed);
  const auto code =
      request != nullptr ? prepare::run(*request) : std::get<prepare::ExitCode>(parsed);
  return static_cast<int>(code);
}
