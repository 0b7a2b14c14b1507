// The command `prepare`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/prepared_spec.hpp"
#include "../../gpu/claims/claim_edits.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/claims/found_device.hpp"
#include "../../gpu/model/profile.hpp"
#include "../../gpu/survey/survey.hpp"
#include "claim.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "option_checks.hpp"
#include "output.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The options of `prepare`.
struct PrepareOptions : ClaimOptions {
  std::vector<std::string> devices{};  // NAME[@REQUEST]
  std::string name_space{};
  std::string name{};
  std::string kind = "cdi-prepare.local/claim";
};

/// The parts of NAME[@REQUEST].
struct NameAndRequest {
  std::string name{};
  std::string request{};
};

NameAndRequest parse_requested_name(const std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return {.name = text};
  return {.name = text.substr(0, at), .request = text.substr(at + 1)};
}

/// The fault in a NAME[@REQUEST] argument; empty if it is valid. Kubernetes requests are `gpu`, or
/// `gpu/large` for a choice of devices.
std::string requested_name_fault(const std::string& text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
  constexpr std::size_t longest = 127;
  const auto [name, request] = parse_requested_name(text);
  if (!cdi::parse_name(name) && !cdi::is_device_name(name)) {
    return cdi::quoted(name) + " is not a device name: `cdi-prepare detect` lists the names";
  }
  const bool slash_inside = !request.starts_with('/') && !request.ends_with('/') &&
                            request.find('/') == request.rfind('/');
  const bool is_request = !request.empty() && slash_inside && request.size() <= longest &&
                          request.find_first_not_of(allowed) == std::string::npos;
  const bool good = is_request || text.find('@') == std::string::npos;
  return good
             ? ""
             : "the request name, after the @, may have letters, digits, -, ., _, and one / inside";
}

/// Whether the claim was prepared with the same names for the same requests. The names may now mean
/// other GPUs or none, but the claim keeps its GPUs.
bool asks_for_the_same(const PrepareOptions& own, const Claim& claim) {
  std::set<std::pair<std::string, std::string>> requested;
  std::set<std::pair<std::string, std::string>> had;
  for (const auto& text : own.devices) {
    const auto [name, request] = parse_requested_name(text);
    requested.emplace(name, request);
  }
  for (const auto& device : claim.devices) had.emplace(device.requested, device.request);
  return requested == had;
}

/// The claimed device that had this name when it was claimed. The name may have changed since: an
/// id may be unknown until a process uses the GPU.
const ClaimedDevice* find_by_name(const Claim& claim, std::string_view name) {
  for (const auto& device : claim.devices) {
    if (name == device.name || name == cdi::qualified_name(gpu_of(device).kind, device.name)) {
      return &device;
    }
  }
  return nullptr;
}

/// The devices on the command line. `known` is the existing claim, or null for a new claim.
cdi::Result<std::vector<RequestedDevice>> requested_devices(const Survey& survey,
                                                            const PrepareOptions& own,
                                                            const Claim* known) {
  std::vector<RequestedDevice> out;
  for (const auto& text : own.devices) {
    const auto [name, request] = parse_requested_name(text);
    if (const auto* const claimed = known != nullptr ? find_by_name(*known, name) : nullptr) {
      auto found = find_again(survey, gpu_of(*claimed));
      if (!found) return std::move(found).error();
      out.push_back({.request = request, .name = name, .device = std::move(*found)});
      continue;
    }
    auto found = find_devices(survey, name);
    if (!found) return std::move(found).error();
    for (auto& device : *found)
      out.push_back({.request = request, .name = name, .device = std::move(device)});
  }
  return out;
}

/// Prepares the claim on the command line, or returns it if it is already prepared.
cdi::Result<Claim> prepare_requested(Claims& claims, const Options& options,
                                     const PrepareOptions& own) {
  if (auto good = claims.check(own.claim); !good) return std::move(good).error();
  const auto known = claims.all().find(own.claim);
  const auto* const claim = known == claims.all().end() ? nullptr : &known->second;
  if (claim != nullptr && (claim->kind != own.kind || claim->spec_dir != options.output_dir ||
                           claim->options != kept_options(options))) {
    report(Message::warning(
        "the claim keeps the options that it was prepared with: unprepare it first to change "
        "them"));
  }
  if (claim != nullptr && asks_for_the_same(own, *claim)) return *claim;
  const auto requested = requested_devices(claims.survey(), own, claim);
  if (!requested) return requested.error();
  return claims.prepare({.uid = own.claim,
                         .name_space = own.name_space,
                         .name = own.name,
                         .kind = own.kind,
                         .spec_dir = options.output_dir,
                         .options = kept_options(options)},
                        *requested);
}

/// Whether a claim failed only because requested devices are not ready yet.
bool is_early(const cdi::Error& error, const Survey& survey, const Options& options,
              const PrepareOptions& own) {
  if (error.code == cdi::Errc::host) return true;  // the devices exist, but not all that they need
  if (error.code != cdi::Errc::not_found) return false;
  const auto profiles = profiles_named(options.profile);
  bool some = false;
  for (const auto& text : own.devices) {
    const auto name = parse_requested_name(text).name;
    const bool early = may_become_ready(survey, name, profiles);
    if (!early && !find_devices(survey, name)) return false;  // waiting does not help
    some = some || early;
  }
  return some;
}

ExitCode prepare_claim(const AssessedSurvey& assessed, const Options& options,
                       const PrepareOptions& own) {
  const auto fault = hooks_fault(options, spec_options(assessed.survey.tree, options));
  if (!fault.empty()) report(Message::warning(fault));
  return with_claims(assessed, options, own, [&](Claims& claims) {
    const auto claim = prepare_requested(claims, options, own);
    if (claim) return answer(own.claim, ClaimOutcome{.devices = devices_of(*claim)});
    const bool early =
        claims.check(own.claim) && is_early(claim.error(), claims.survey(), options, own);
    return answer(own.claim, claim.error(), early ? ExitCode::not_ready : ExitCode::failed);
  });
}

Run set_up_prepare(CLI::App& app, Options& options) {
  auto own = std::make_shared<PrepareOptions>();
  add_claim(app, *own);
  app.add_option(
         "--device", own->devices,
         "Device for the claim, NAME[@REQUEST]: a name from `detect`, with or without the kind")
      ->type_name("DEVICE")
      ->required()
      ->check(requested_name_fault);
  app.add_option("--namespace", own->name_space, "Namespace of the claim, for people")
      ->type_name("NAME");
  app.add_option("--name", own->name, "Name of the claim, for people")->type_name("NAME");
  app.add_option("--kind", own->kind, "Kind of the CDI devices of claims")
      ->type_name("KIND")
      ->check(kind_fault)
      ->capture_default_str();
  add_spec_options(app, options);
  add_nvml(app, options);
  add_claim_options(app, options, *own);
  return after_survey(prepare_claim, own);
}

}  // namespace

constexpr Command prepare_command{
    "prepare", "Assign devices to a claim, in its own spec; prints JSON", set_up_prepare,
    "cdi-prepare prepare --claim 6a1f0c3e --device 0 --device 1"};

}  // namespace prepare
