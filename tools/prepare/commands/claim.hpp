// The commands `unprepare` and `list`, and what all commands on claims share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/json_output.hpp"
#include "../../gpu/base/one_line.hpp"
#include "../../gpu/base/options.hpp"
#include "../../gpu/claims/claim.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/vendors/survey.hpp"
#include "../../kit/host/denied.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "option_checks.hpp"
#include "option_paths.hpp"
#include "output.hpp"
#include "selection_options.hpp"
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

inline void add_claim(CLI::App& command, ClaimOptions& own) {
  command.add_option("--claim", own.claim, "UID of the claim")
      ->type_name("UID")
      ->required()
      ->check(uid_fault);
}

inline void add_claim_options(CLI::App& command, Options& options, ClaimOptions& own) {
  add_driver_place(command, options);
  add_vendor_files(command, options);
  add_state_dir(command, own.state_dir);
  command.add_option("--lock-timeout", own.lock_timeout, "Seconds to wait for other calls")
      ->type_name("SECONDS")
      ->check(seconds_fault)
      ->capture_default_str();
}

/// The devices of a claim in the kubelet's format: the CDI ids for each request. The kubelet knows
/// `gpu/large` only as `gpu`.
inline Json devices_json(const Claim& claim) {
  Json devices = Json::array();
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto& device = claim.devices[i];
    Json requests = Json::array();
    if (!device.request.empty()) {
      requests.push_back(device.request.substr(0, device.request.find('/')));
    }
    devices.push_back(Json{{"request_names", requests},
                           {"requested", device.requested},
                           {"device_name", device.name},
                           {"cdi_device_ids", Json::array({claim.device_id(i)})}});
  }
  return devices;
}

/// Prints the outcome for a claim: its devices, or an error, which is also printed on standard
/// error.
inline ExitCode answer(const std::string& uid, const cdi::Result<Json>& outcome,
                       ExitCode failure = ExitCode::failed) {
  Json claim = outcome ? *outcome : Json{{"error", cdi::to_string(outcome.error())}};
  if (!outcome) report(Message::error(outcome.error()));
  const Json all{{"claims", Json{{uid, std::move(claim)}}}};
  return finish(json_text(all), outcome ? ExitCode::done : failure);
}

/// Reports warnings, and the faults of claims other than `requested`. `list`, which requests no
/// claim, prints the faults itself.
inline void report_faults(const Claims& claims, const std::string& requested) {
  for (const auto& warning : claims.warnings()) report(Message::warning(warning));
  for (const auto& [uid, fault] : claims.faults()) {
    if (uid != requested && !requested.empty())
      report(Message::warning(fmt::format("claim {}: {}", uid, fault)));
  }
}

/// Rejects a journal in the spec directory, because engines would read its files as specs.
inline cdi::Result<void> check_directories(const std::string& state_dir,
                                           const std::string& output_dir) {
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

/// Runs `act` on the claims while this process holds the lock. `act` prints the outcome.
template <typename Act>
ExitCode with_claims(const AssessedSurvey& assessed, const Options& options,
                     const ClaimOptions& own, Act act) {
  const auto fail = [&](const cdi::Error& error) {
    if (!own.claim.empty()) return answer(own.claim, error);
    if (!options.json()) return finish(error, ExitCode::failed);
    report(Message::error(error));
    return finish(json_text(result_json({{"error", cdi::to_string(error)}})), ExitCode::failed);
  };
  const auto dir = state_dir_or(options, own.state_dir);
  if (auto good = check_directories(dir, options.output_dir); !good) return fail(good.error());
  auto directory = open_directory(options, dir, Missing::made);
  if (!directory) return fail(tools::with_denied_access(directory.error(), dir, "--state-dir"));
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

inline ExitCode unprepare_claim(const AssessedSurvey& assessed, const Options& options,
                                const ClaimOptions& own) {
  return with_claims(assessed, options, own, [&](Claims& claims) {
    const auto done = claims.unprepare(own.claim);
    return done ? answer(own.claim, Json::object()) : answer(own.claim, done.error());
  });
}

inline Run set_up_unprepare(CLI::App& app, Options& options) {
  auto own = std::make_shared<ClaimOptions>();
  add_claim(app, *own);
  add_output_dir(app, options);
  add_claim_options(app, options, *own);
  return after_survey(unprepare_claim, own);
}

inline constexpr Command unprepare_command{
    "unprepare", "Release the devices of a claim; prints JSON", set_up_unprepare,
    "cdi-prepare unprepare --claim 6a1f0c3e"};

/// The output of `list` for programs.
inline Json claims_json(const Claims& claims) {
  Json out = Json::object();
  for (const auto& [uid, claim] : claims.all()) {
    out[uid] = Json{{"namespace", claim.name_space},
                    {"name", claim.name},
                    {"devices", devices_json(claim)},
                    {"fault", nullptr}};
  }
  for (const auto& [uid, fault] : claims.faults()) {
    Json nothing{{"namespace", ""}, {"name", ""}, {"devices", Json::array()}};
    if (!out.contains(uid)) out[uid] = std::move(nothing);  // an unreadable claim
    out[uid]["fault"] = fault;
  }
  return result_json({{"claims", out}});
}

/// The output of `list` for people.
inline std::string claims_text(const Claims& claims) {
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
inline ExitCode list_claims(const AssessedSurvey& assessed, const Options& options,
                            const ClaimOptions& own) {
  return with_claims(assessed, options, own, [&](Claims& claims) {
    const auto code = claims.faults().empty() ? ExitCode::done : ExitCode::partial;
    return finish(options.json() ? json_text(claims_json(claims)) : claims_text(claims), code);
  });
}

inline Run set_up_list(CLI::App& app, Options& options) {
  auto own = std::make_shared<ClaimOptions>();
  add_output(app, options);
  add_output_dir(app, options);
  add_claim_options(app, options, *own);
  return after_survey(list_claims, own);
}

inline constexpr Command list_command{"list", "Update the specs of all claims, and show the claims",
                                      set_up_list, "cdi-prepare list -o json"};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP
