// Reports the state of a driver on its node: its sockets, claims and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_INSPECT_STATUS_HPP
#define CDI_TOOLS_DRA_INSPECT_STATUS_HPP

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/claims.hpp>
#include <cdi/file.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/json_output.hpp"
#include "../../gpu/base/one_line.hpp"
#include "../../gpu/claims/claim_edits.hpp"
#include "../../gpu/claims/claim_places.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/vendors/survey.hpp"
#include "../settings.hpp"
#include "sockets.hpp"

// Nothing is locked or changed: the driver may run at the same time.

namespace dra {

/// A claim in the journal of a driver.
struct ClaimState {
  std::string uid{};
  std::optional<cdi::Claim> claim{};   // nothing if it cannot be read
  std::string spec{};                  // the path of its spec
  std::optional<std::string> fault{};  // why it cannot be used
};

/// The state of a driver on its node.
struct Status {
  std::vector<SocketState> sockets{};
  std::vector<ClaimState> claims{};
  std::string journal{};          // the directory of the claims
  bool has_journal = false;       // whether it exists
  bool has_only_sockets = false;  // claims were not examined

  bool is_good() const {
    const auto has_fault = [](const auto& one) {
      return one.fault.has_value();
    };
    return std::none_of(sockets.begin(), sockets.end(), has_fault) &&
           std::none_of(claims.begin(), claims.end(), has_fault);
  }
};

namespace detail {

/// Why the spec of a claim does not give its devices; nullopt if it does.
inline std::optional<std::string> fault_in_spec(const cdi::Claim& claim, const std::string& path) {
  const auto loaded = cdi::read_spec_file(path);
  if (!loaded) return to_string(loaded.error());
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto& devices = loaded->spec.devices;
    const auto name = claim.device_name(i);
    const bool has_it = std::any_of(devices.begin(), devices.end(),
                                    [&](const auto& device) { return device.name == name; });
    if (!has_it) return fmt::format("{}: it has no device {}", path, name);
  }
  return std::nullopt;
}

/// Looks for the devices of claims where each was prepared: the journal has the vendor files and
/// the places of drivers that the driver was started with.
class ClaimHost {
 public:
  explicit ClaimHost(const prepare::Options& options)
      : survey_{prepare::survey_host(options)}, options_{options} {
    if (survey_) surveys_.emplace(*survey_, options, prepare::JournalPlace::here);
  }

  ClaimHost(const ClaimHost&) = delete;
  ClaimHost& operator=(const ClaimHost&) = delete;

  const prepare::Options& options() const { return options_; }

  /// Why the host does not have the devices of a claim; nullopt if it has them.
  std::optional<std::string> fault(const cdi::Claim& claim) {
    if (!surveys_) return to_string(survey_.error());
    const auto survey = surveys_->of(claim);
    if (!survey) return to_string(survey.error());
    const auto found = prepare::find_again(**survey, claim);
    return found ? std::nullopt : std::optional{to_string(found.error())};
  }

 private:
  const cdi::Result<prepare::Survey> survey_;
  const prepare::Options& options_;
  std::optional<prepare::ClaimSurveys> surveys_{};
};

inline ClaimState claim_state(const std::string& uid, const cdi::Result<cdi::Claim>& claim,
                              ClaimHost& host) {
  ClaimState out{.uid = uid};
  if (!claim) {
    out.fault = to_string(claim.error());
    return out;
  }
  out.spec = claim->spec_dir + "/" + claim->file_name();
  const bool is_prepared = claim->phase == cdi::Claim::Phase::prepared;
  out.fault = is_prepared ? fault_in_spec(*claim, out.spec)
                          : "a call for it was killed, or is still running";
  if (!out.fault) out.fault = host.fault(*claim);
  out.claim = *claim;
  return out;
}

}  // namespace detail

/// Reads the state of a driver, and looks for the devices of its claims on the host. Fails if its
/// journal cannot be read; a missing one has no claims.
inline cdi::Result<Status> read_status(const Settings& settings) {
  const auto names = socket_names(settings.kubelet_dir, settings.driver, settings.instance);
  if (!names) return names.error();
  Status out{.sockets = ask_sockets(*names), .has_only_sockets = settings.only_sockets};
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
  detail::ClaimHost host{settings.host};
  for (const auto& [uid, claim] : *claims) {
    out.claims.push_back(detail::claim_state(uid, claim, host));
  }
  return out;
}

/// A line for each socket and claim, and for each device of a claim.
inline std::string status_text(const Status& status) {
  std::string out;
  for (const auto& [use, path, fault] : status.sockets) {
    out += prepare::as_line(
        fmt::format("{} socket: {}", use, fault ? "no answer: " + *fault : path + " answers"));
  }
  for (const auto& [uid, claim, spec, fault] : status.claims) {
    // Claims of the device plugin have no namespace, and are named after their device.
    const auto has_name = claim && !claim->name_space.empty();
    const auto of = has_name ? fmt::format(" {}/{}", claim->name_space, claim->name) : "";
    out += prepare::as_line(fmt::format("claim {}{}: {}", uid, of, fault ? *fault : spec));
    if (!claim) continue;
    for (std::size_t i = 0; i < claim->devices.size(); ++i) {
      const auto& device = claim->devices[i];
      out += prepare::as_line(fmt::format("  {} {}{}", claim->device_id(i), device.name,
                                          device.request.empty() ? "" : " for " + device.request));
    }
  }
  if (status.claims.empty() && !status.has_only_sockets) {
    out += prepare::as_line(fmt::format("no claims in {}{}", status.journal,
                                        status.has_journal ? "" : ", which does not exist"));
  }
  return out;
}

inline std::string status_json(const Status& status) {
  using prepare::Json;
  const auto fault_of = [](const auto& one) {
    return one.fault ? Json(*one.fault) : Json(nullptr);
  };
  Json sockets = Json::array();
  for (const auto& one : status.sockets) {
    sockets.push_back(Json{{"use", one.use}, {"path", one.path}, {"fault", fault_of(one)}});
  }
  Json claims = Json::object();
  for (const auto& one : status.claims) {
    Json devices = Json::array();
    for (std::size_t i = 0; one.claim && i < one.claim->devices.size(); ++i) {
      const auto& device = one.claim->devices[i];
      devices.push_back(Json{{"request", prepare::text_or_null(device.request)},
                             {"device", device.name},
                             {"cdiDevice", one.claim->device_id(i)}});
    }
    claims[one.uid] = Json{{"namespace", one.claim ? one.claim->name_space : ""},
                           {"name", one.claim ? one.claim->name : ""},
                           {"devices", devices},
                           {"spec", prepare::text_or_null(one.spec)},
                           {"fault", fault_of(one)}};
  }
  return prepare::json_text(prepare::result_json({{"sockets", sockets}, {"claims", claims}}));
}

}  // namespace dra

#endif  // CDI_TOOLS_DRA_INSPECT_STATUS_HPP
