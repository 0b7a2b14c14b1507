// The commands `prepare`, `unprepare` and `list`, which a DRA driver calls.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../base/one_line.hpp"
#include "../base/options.hpp"
#include "../cdi_specs/prepared_spec.hpp"
#include "../claims/claims.hpp"
#include "../claims/found_device.hpp"
#include "../claims/journal.hpp"
#include "../gpu/profile.hpp"
#include "../host/directories.hpp"
#include "../vendors/detect.hpp"
#include "../vendors/survey.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "report.hpp"
#include "verdict.hpp"

// Their output has what the driver returns to the kubelet.

namespace prepare {

/// The parts of NAME[@REQUEST].
struct NameAndRequest {
  std::string name{};
  std::string request{};
};

inline NameAndRequest parse_requested_name(const std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return {.name = text};
  return {.name = text.substr(0, at), .request = text.substr(at + 1)};
}

/// Why a text is not NAME[@REQUEST], for the command line; empty when it is. Requests of Kubernetes
/// are `gpu`, or `gpu/large` where there is a choice.
inline std::string requested_name_fault(const std::string& text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
  constexpr std::size_t longest = 127;
  const auto [name, request] = parse_requested_name(text);
  if (!cdi::parse_name(name) && !cdi::is_device_name(name)) {
    return cdi::quoted(name) + " is not the name of a device: `cdi-prepare detect` lists the names";
  }
  const bool slash_inside = !request.starts_with('/') && !request.ends_with('/') &&
                            request.find('/') == request.rfind('/');
  const bool is_request = !request.empty() && slash_inside && request.size() <= longest &&
                          request.find_first_not_of(allowed) == std::string::npos;
  const bool good = is_request || text.find('@') == std::string::npos;
  return good
             ? ""
             : "the name of a request, after the @, has letters, digits, -, ., _, and one / inside";
}

/// Whether the same names were asked for when the claim was prepared, for the same requests. The
/// names may mean other GPUs now, or none: the claim keeps its GPUs.
inline bool asks_for_the_same(const Options& options, const Claim& claim) {
  std::set<std::pair<std::string, std::string>> requested;
  std::set<std::pair<std::string, std::string>> had;
  for (const auto& text : options.devices) {
    const auto [name, request] = parse_requested_name(text);
    requested.emplace(name, request);
  }
  for (const auto& device : claim.devices) had.emplace(device.requested, device.request);
  return requested == had;
}

/// The device of a claim with this name at the time when it was claimed. The name may have changed:
/// an id may be unknown until a process uses the GPU.
inline const ClaimedDevice* find_by_name(const Claim& claim, std::string_view name) {
  for (const auto& device : claim.devices) {
    if (name == device.name || name == cdi::qualified_name(device.kind, device.name)) {
      return &device;
    }
  }
  return nullptr;
}

/// The devices on the command line. `known` is the claim as it is, or null for a new one.
inline cdi::Result<std::vector<RequestedDevice>> requested_devices(const Survey& survey,
                                                                   const Options& options,
                                                                   const Claim* known) {
  std::vector<RequestedDevice> out;
  for (const auto& text : options.devices) {
    const auto [name, request] = parse_requested_name(text);
    if (const auto* const claimed = known != nullptr ? find_by_name(*known, name) : nullptr) {
      auto found = find_again(survey, *claimed);
      if (!found) return std::move(found).error();
      out.push_back({request, name, std::move(*found)});
      continue;
    }
    auto found = find_devices(survey, name);
    if (!found) return std::move(found).error();
    for (auto& device : *found) out.push_back({request, name, std::move(device)});
  }
  return out;
}

/// The devices of a claim in the form of the kubelet: the CDI ids for each request. Of `gpu/large`,
/// the kubelet knows only `gpu`.
inline Json devices_json(const Claim& claim) {
  Json devices = Json::array();
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto& device = claim.devices[i];
    Json requests = Json::array();
    if (!device.request.empty()) {
      requests.push_back(device.request.substr(0, device.request.find('/')));
    }
    devices.push_back(Json{{"request_names", requests},
                           {"asked", device.requested},
                           {"device_name", device.name},
                           {"cdi_device_ids", Json::array({claim.device_id(i)})}});
  }
  return devices;
}

/// Prints the outcome for one claim: its devices, or an error, which also goes to standard error.
inline ExitCode answer(const std::string& uid, const cdi::Result<Json>& outcome,
                       ExitCode failure = ExitCode::failed) {
  Json claim = outcome ? *outcome : Json{{"error", cdi::to_string(outcome.error())}};
  if (!outcome) report("error: " + cdi::to_string(outcome.error()));
  const Json all{{"claims", Json{{uid, std::move(claim)}}}};
  return finish(json_text(all), outcome ? ExitCode::done : failure);
}

/// Reports warnings and the faults of other claims than `requested`. `list`, which asks for no
/// claim, prints the faults itself.
inline void report_faults(const Claims& claims, const std::string& requested) {
  for (const auto& warning : claims.warnings()) report("warning: " + warning);
  for (const auto& [uid, fault] : claims.faults()) {
    if (uid != requested && !requested.empty())
      report(fmt::format("warning: claim {}: {}", uid, fault));
  }
}

/// Refuses a journal in the directory of the specs: engines would read it as specs.
inline cdi::Result<void> check_directories(const Options& options) {
  namespace fs = std::filesystem;
  const auto plain = [](const std::string& path) {
    return (fs::path{path} / "").lexically_normal();
  };
  std::error_code missing;
  const bool same = plain(options.state_dir) == plain(options.output_dir) ||
                    fs::equivalent(options.state_dir, options.output_dir, missing);
  if (!same) return {};
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "this is also the directory of the specs",
                    .advice = "take another --state-dir",
                    .position = {.file = options.state_dir}};
}

/// Runs `act` on the claims while no other process can. `act` prints the outcome.
template <typename Act>
ExitCode with_claims(const AssessedSurvey& assessed, const Options& options, Act act) {
  const auto fail = [&](const cdi::Error& error) {
    if (!options.claim.empty()) return answer(options.claim, error);
    if (!options.json()) return finish(error, ExitCode::failed);
    report("error: " + cdi::to_string(error));
    return finish(json_text({{"error", cdi::to_string(error)}}), ExitCode::failed);
  };
  if (auto good = check_directories(options); !good) return fail(good.error());
  auto directory = open_directory(options, options.state_dir, Missing::made);
  if (!directory) return fail(directory.error());
  const auto journal =
      Journal::open(std::move(*directory), std::chrono::duration<double>{options.lock_timeout});
  if (!journal) return fail(journal.error());
  std::optional<Survey> later;
  if (journal->has_waited()) {  // the holder of the lock may have seen a later state of the host
    auto surveyed = survey_host(options);
    if (!surveyed) return fail(surveyed.error());
    later = std::move(*surveyed);
  }
  Claims claims{*journal, later ? *later : assessed.survey, options};
  if (auto agreed = claims.reconcile(); !agreed) return fail(agreed.error());
  const auto code = act(claims);
  report_faults(claims, options.claim);
  return code;
}

/// Prepares the claim of the command line, or returns it when it is prepared already.
inline cdi::Result<Claim> prepare_requested(Claims& claims, const Options& options) {
  if (auto good = claims.check(options.claim); !good) return std::move(good).error();
  const auto known = claims.all().find(options.claim);
  const auto* const claim = known == claims.all().end() ? nullptr : &known->second;
  if (claim != nullptr &&
      (claim->kind != options.claim_kind || claim->holds != kept_options(options))) {
    report(
        "warning: the claim keeps the options that it was prepared with: unprepare it first to "
        "change them");
  }
  if (claim != nullptr && asks_for_the_same(options, *claim)) return *claim;
  const auto requested = requested_devices(claims.survey(), options, claim);
  if (!requested) return requested.error();
  return claims.prepare({.uid = options.claim,
                         .name_space = options.claim_namespace,
                         .name = options.claim_name,
                         .kind = options.claim_kind,
                         .holds = kept_options(options)},
                        *requested);
}

/// Whether a claim failed only because devices that it asks for are not ready yet.
inline bool is_early(const cdi::Error& error, const Survey& survey, const Options& options) {
  if (error.code == cdi::Errc::host) return true;  // the devices are there, but not all they need
  if (error.code != cdi::Errc::not_found) return false;
  const auto profiles = profiles_named(options.profile);
  bool some = false;
  for (const auto& text : options.devices) {
    const auto name = parse_requested_name(text).name;
    const bool early = may_become_ready(survey, name, profiles);
    if (!early && !find_devices(survey, name)) return false;  // no time makes it ready
    some = some || early;
  }
  return some;
}

inline ExitCode prepare_claim(const AssessedSurvey& assessed, const Options& options) {
  const auto fault = hooks_fault(options, spec_options(assessed.survey.tree, options));
  if (!fault.empty()) report("warning: " + fault);
  return with_claims(assessed, options, [&](Claims& claims) {
    const auto claim = prepare_requested(claims, options);
    if (claim) return answer(options.claim, Json{{"devices", devices_json(*claim)}});
    const bool early =
        claims.check(options.claim) && is_early(claim.error(), claims.survey(), options);
    return answer(options.claim, claim.error(), early ? ExitCode::not_ready : ExitCode::failed);
  });
}

inline ExitCode unprepare_claim(const AssessedSurvey& assessed, const Options& options) {
  return with_claims(assessed, options, [&](Claims& claims) {
    const auto done = claims.unprepare(options.claim);
    return done ? answer(options.claim, Json::object()) : answer(options.claim, done.error());
  });
}

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
    if (!out.contains(uid)) out[uid] = std::move(nothing);  // it cannot be read
    out[uid]["fault"] = fault;
  }
  return {{"claims", out}};
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
                                 cdi::qualified_name(device.kind, device.name),
                                 device.request.empty() ? "" : " for " + device.request));
    }
  }
  for (const auto& [uid, fault] : claims.faults()) {
    out += as_line(fmt::format("fault: {}: {}", uid, fault));
  }
  return out;
}

/// Lists the claims. `partial` when one has a fault.
inline ExitCode list_claims(const AssessedSurvey& assessed, const Options& options) {
  return with_claims(assessed, options, [&](Claims& claims) {
    const auto code = claims.faults().empty() ? ExitCode::done : ExitCode::partial;
    return finish(options.json() ? json_text(claims_json(claims)) : claims_text(claims), code);
  });
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_CLAIM_HPP
