// The commands `unprepare` and `list`, and what all commands on claims share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "claim.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "commands.hpp"
#include "option_checks.hpp"
#include "selection_options.hpp"
#include "verdict.hpp"

namespace prepare {

namespace {

ExitCode unprepare_claim(const AssessedSurvey& assessed, const Options& options,
                         const ClaimOptions& own) {
  return with_claims(assessed, options, own, [&](Claims& claims) {
    const auto done = claims.unprepare(own.claim);
    return done ? answer(own.claim, ClaimOutcome{}) : answer(own.claim, done.error());
  });
}

Run set_up_unprepare(CLI::App& app, Options& options) {
  auto own = std::make_shared<ClaimOptions>();
  add_claim(app, *own);
  add_output_dir(app, options);
  add_claim_options(app, options, *own);
  return after_survey(unprepare_claim, own);
}

/// The output of `list` for programs.
ClaimList shown(const Claims& claims) {
  ClaimList out;
  auto& list = out.claims.emplace();
  for (const auto& [uid, claim] : claims.all()) {
    list[uid] = {claim.name_space, claim.name, devices_of(claim)};
  }
  for (const auto& [uid, fault] : claims.faults()) list[uid].fault = fault;
  return out;
}

/// The output of `list` for people.
std::string claims_text(const Claims& claims) {
  std::string out;
  for (const auto& [uid, claim] : claims.all()) {
    const bool named = !claim.name_space.empty() || !claim.name.empty();
    out += as_line(named ? fmt::format("{} {}/{}", uid, claim.name_space, claim.name) : uid);
    for (std::size_t i = 0; i < claim.devices.size(); ++i) {
      const auto& device = claim.devices[i];
      out += as_line(fmt::format("  {} {}{}", claim.device_id(i),
                                 cdi::qualified_name(gpu_of(device).kind, device.name),
                                 device.request.empty() ? "" : " for " + device.request));
    }
  }
  for (const auto& [uid, fault] : claims.faults()) {
    out += as_line(fmt::format("fault: {}: {}", uid, fault));
  }
  return out;
}

/// Lists the claims. `partial` if a claim has a fault.
ExitCode list_claims(const AssessedSurvey& assessed, const Options& options,
                     const ClaimOptions& own) {
  return with_claims(assessed, options, own, [&](Claims& claims) {
    const auto code = claims.faults().empty() ? ExitCode::done : ExitCode::partial;
    return finish(options.json() ? tools::json_text(shown(claims)) : claims_text(claims), code);
  });
}

Run set_up_list(CLI::App& app, Options& options) {
  auto own = std::make_shared<ClaimOptions>();
  add_output(app, options);
  add_output_dir(app, options);
  add_claim_options(app, options, *own);
  return after_survey(list_claims, own);
}

}  // namespace

void add_claim(CLI::App& command, ClaimOptions& own) {
  command.add_option("--claim", own.claim, "UID of the claim")
      ->type_name("UID")
      ->required()
      ->check(uid_fault);
}

void add_claim_options(CLI::App& command, Options& options, ClaimOptions& own) {
  add_driver_place(command, options);
  add_vendor_files(command, options);
  add_state_dir(command, own.state_dir);
  command.add_option("--lock-timeout", own.lock_timeout, "Seconds to wait for other calls")
      ->type_name("SECONDS")
      ->check(seconds_fault)
      ->capture_default_str();
}

std::vector<ClaimDevice> devices_of(const Claim& claim) {
  std::vector<ClaimDevice> out;
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto& device = claim.devices[i];
    auto& one =
        out.emplace_back(ClaimDevice{{}, device.requested, device.name, {claim.device_id(i)}});
    if (!device.request.empty()) {
      one.request_names = {device.request.substr(0, device.request.find('/'))};
    }
  }
  return out;
}

ExitCode answer(const std::string& uid, cdi::Result<ClaimOutcome> outcome, ExitCode failure) {
  ClaimResult result;
  auto& claim = result.claims[uid];
  if (outcome) {
    claim = std::move(*outcome);
  } else {
    report(Message::error(outcome.error()));
    claim.error = cdi::to_string(outcome.error());
  }
  return finish(tools::json_text(result), outcome ? ExitCode::done : failure);
}

void report_faults(const Claims& claims, const std::string& requested) {
  for (const auto& warning : claims.warnings()) report(Message::warning(warning));
  for (const auto& [uid, fault] : claims.faults()) {
    if (uid != requested && !requested.empty())
      report(Message::warning(fmt::format("claim {}: {}", uid, fault)));
  }
}

cdi::Result<void> check_directories(const std::string& state_dir, const std::string& output_dir) {
  namespace fs = std::filesystem;
  const auto plain = [](const std::string& path) {
    return (fs::path{path} / "").lexically_normal();
  };
  std::error_code missing;
  const bool same =
      plain(state_dir) == plain(output_dir) || fs::equivalent(state_dir, output_dir, missing);
  if (!same) return {};
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "this is also the spec directory",
                    .advice = "use another --state-dir",
                    .position = {.file = state_dir}};
}

constexpr Command unprepare_command{"unprepare", "Release the devices of a claim; prints JSON",
                                    set_up_unprepare, "cdi-prepare unprepare --claim 6a1f0c3e"};

constexpr Command list_command{"list", "Update the specs of all claims, and show the claims",
                               set_up_list, "cdi-prepare list -o json"};

}  // namespace prepare
