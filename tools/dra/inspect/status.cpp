// Reports the state of a driver on its node: its sockets, claims and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "status.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <cdi/file.hpp>

#include "../../gpu/base/one_line.hpp"
#include "../../gpu/claims/claim_places.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/survey/survey.hpp"
#include "sockets.hpp"

namespace dra {

namespace {

/// Looks for the devices of claims where each was prepared: the journal has the vendor files and
/// the places of drivers that the driver was started with.
class ClaimHost {
 public:
  explicit ClaimHost(const prepare::Options& options) : survey_{prepare::survey_host(options)} {
    if (survey_) surveys_.emplace(*survey_, options, prepare::JournalPlace::here);
  }

  ClaimHost(const ClaimHost&) = delete;
  ClaimHost& operator=(const ClaimHost&) = delete;

  /// Why the host does not have the devices of a claim, or its spec does not give them; nullopt if
  /// all is well.
  std::optional<std::string> fault(const cdi::Claim& claim, const std::string& path) {
    const auto loaded = cdi::read_spec_file(path);
    if (!loaded) return to_string(loaded.error());
    if (!surveys_) return to_string(survey_.error());
    const auto survey = surveys_->of(claim);
    if (!survey) return to_string(survey.error());
    const auto found = prepare::find_again(**survey, claim);
    if (!found) return to_string(found.error());
    auto fault = prepare::fault_in(loaded->spec, claim, *found);
    return fault ? fmt::format("{}: {}", path, *fault) : fault;
  }

 private:
  const cdi::Result<prepare::Survey> survey_;
  std::optional<prepare::ClaimSurveys> surveys_{};
};

ClaimState claim_state(const cdi::Result<cdi::Claim>& claim, ClaimHost& host) {
  if (!claim) return {.fault = to_string(claim.error())};
  ClaimState out{.name_space = claim->name_space, .name = claim->name};
  for (std::size_t i = 0; i < claim->devices.size(); ++i) {
    const auto& device = claim->devices[i];
    out.devices.push_back({.device = device.name, .cdi_device = claim->device_id(i)});
    if (!device.request.empty()) out.devices.back().request = device.request;
  }
  out.spec = claim->spec_dir + "/" + claim->file_name();
  const bool is_prepared = claim->phase == cdi::Claim::Phase::prepared;
  out.fault =
      is_prepared ? host.fault(*claim, *out.spec) : "a call for it was killed, or is still running";
  return out;
}

}  // namespace

bool Status::is_good() const {
  return std::none_of(sockets.begin(), sockets.end(),
                      [](const auto& one) { return one.fault.has_value(); }) &&
         std::none_of(claims.begin(), claims.end(),
                      [](const auto& one) { return one.second.fault.has_value(); });
}

cdi::Result<Status> read_status(const Settings& settings) {
  const auto names = socket_names(settings.kubelet_dir, settings.driver, settings.instance);
  if (!names) return names.error();
  Status out{{.sockets = ask_sockets(*names)}, {}, false, settings.only_sockets};
  if (settings.only_sockets) return out;
  const auto directory =
      prepare::open_directory(settings.host, settings.state_dir, prepare::Missing::stays);
  if (!directory) return directory.error();
  out.journal = directory->path;
  out.has_journal = bool{directory->descriptor};
  if (!out.has_journal) return out;
  const auto claims = cdi::ClaimJournal::peek(*directory);
  if (!claims) return claims.error();
  if (claims->empty()) return out;
  ClaimHost host{settings.host};
  for (const auto& [uid, claim] : *claims) {
    out.claims.emplace(uid, claim_state(claim, host));
  }
  return out;
}

std::string status_text(const Status& status) {
  std::string out;
  for (const auto& [use, path, fault] : status.sockets) {
    out += prepare::as_line(
        fmt::format("{} socket: {}", use, fault ? "no answer: " + *fault : path + " answers"));
  }
  for (const auto& [uid, claim] : status.claims) {
    // Claims of the device plugin have no namespace, and are named after their device.
    const auto of =
        claim.name_space.empty() ? "" : fmt::format(" {}/{}", claim.name_space, claim.name);
    out += prepare::as_line(
        fmt::format("claim {}{}: {}", uid, of, claim.fault ? *claim.fault : *claim.spec));
    for (const auto& [request, device, cdi_device] : claim.devices) {
      const auto use = request ? " for " + *request : "";
      out += prepare::as_line(fmt::format("  {} {}{}", cdi_device, device, use));
    }
  }
  if (status.claims.empty() && !status.has_only_sockets) {
    out += prepare::as_line(fmt::format("no claims in {}{}", status.journal,
                                        status.has_journal ? "" : ", which does not exist"));
  }
  return out;
}

}  // namespace dra
