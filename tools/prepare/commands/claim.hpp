// The commands `unprepare` and `list`, and what all commands on claims share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../gpu/base/options.hpp"
#include "../../gpu/claims/claim.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/host/denied.hpp"
#include "../results.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "option_paths.hpp"
#include "output.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

// A DRA driver calls them. Their output contains the data that the driver returns to the kubelet.

namespace prepare {

/// The options of commands on claims.
struct ClaimOptions {
  std::string state_dir{};   // empty: /var/lib/cdi-prepare under the root
  double lock_timeout = 10;  // seconds
  std::string claim{};       // its UID; empty for `list`
};

void add_claim(CLI::App& command, ClaimOptions& own);

void add_claim_options(CLI::App& command, Options& options, ClaimOptions& own);

/// The devices of a claim, with the CDI ids for each request.
std::vector<ClaimDevice> devices_of(const Claim& claim);

/// Prints the outcome for a claim: its devices, or an error, which is also printed on standard
/// error.
ExitCode answer(const std::string& uid, cdi::Result<ClaimOutcome> outcome,
                ExitCode failure = ExitCode::failed);

/// Reports warnings, and the faults of claims other than `requested`. `list`, which requests no
/// claim, prints the faults itself.
void report_faults(const Claims& claims, const std::string& requested);

/// Rejects a journal in the spec directory, because engines would read its files as specs.
cdi::Result<void> check_directories(const std::string& state_dir, const std::string& output_dir);

/// Runs `act` on the claims while this process holds the lock. `act` prints the outcome.
template <typename Act>
ExitCode with_claims(const AssessedSurvey& assessed, const Options& options,
                     const ClaimOptions& own, Act act) {
  const auto fail = [&](const cdi::Error& error) {
    if (!own.claim.empty()) return answer(own.claim, error);
    if (!options.json()) return finish(error, ExitCode::failed);
    report(Message::error(error));
    return finish(tools::json_text(ClaimList{.error = cdi::to_string(error)}), ExitCode::failed);
  };
  const auto dir = state_dir_or(options, own.state_dir);
  if (auto good = check_directories(dir, options.output_dir); !good) return fail(good.error());
  auto directory = open_directory(options, dir, Missing::made);
  if (!directory) return fail(tools::with_denied_advice(directory.error(), "--state-dir"));
  const auto journal =
      open_journal(std::move(*directory), std::chrono::duration<double>{own.lock_timeout});
  if (!journal) return fail(journal.error());
  std::optional<Survey> later;
  if (journal->has_waited()) {  // the previous lock holder may have seen a newer host state
    auto surveyed = survey_host(options);
    if (!surveyed) return fail(surveyed.error());
    later = std::move(*surveyed);
  }
  Claims claims{*journal, later ? *later : assessed.survey, options};
  if (auto agreed = claims.repair(); !agreed) return fail(agreed.error());
  const auto code = act(claims);
  report_faults(claims, own.claim);
  return code;
}

}  // namespace prepare
