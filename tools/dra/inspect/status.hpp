// Reports the state of a driver on its node: its sockets, claims and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_INSPECT_STATUS_HPP
#define CDI_TOOLS_DRA_INSPECT_STATUS_HPP

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>

#include "../../gpu/claims/claim_edits.hpp"
#include "../settings.hpp"
#include "sockets.hpp"

// Nothing is locked or changed: the driver may run at the same time.

namespace dra {

/// A device of a claim.
struct DeviceState {
  std::optional<std::string> request{};
  std::string device{};
  std::string cdi_device{};

  static constexpr void fields(auto& list) {
    list("request", &DeviceState::request, cdi::Presence::keep_empty);
    list("device", &DeviceState::device, cdi::Presence::keep_empty);
    list("cdiDevice", &DeviceState::cdi_device, cdi::Presence::keep_empty);
  }
};

/// A claim in the journal of a driver.
struct ClaimState {
  std::string name_space{};
  std::string name{};
  std::vector<DeviceState> devices{};
  std::optional<std::string> spec{};   // the path of its spec; nothing if it cannot be read
  std::optional<std::string> fault{};  // why it cannot be used

  static constexpr void fields(auto& list) {
    list("namespace", &ClaimState::name_space, cdi::Presence::keep_empty);
    list("name", &ClaimState::name, cdi::Presence::keep_empty);
    list("devices", &ClaimState::devices, cdi::Presence::keep_empty);
    list("spec", &ClaimState::spec, cdi::Presence::keep_empty);
    list("fault", &ClaimState::fault, cdi::Presence::keep_empty);
  }
};

/// The state of a driver on its node.
struct Status {
  std::vector<SocketState> sockets{};
  std::map<std::string, ClaimState> claims{};  // by UID
  std::string journal{};                       // the directory of the claims
  bool has_journal = false;                    // whether it exists
  bool has_only_sockets = false;               // claims were not examined

  static constexpr void fields(auto& list) {
    list("sockets", &Status::sockets, cdi::Presence::keep_empty);
    list("claims", &Status::claims, cdi::Presence::keep_empty);
  }

  bool is_good() const;
};

/// Reads the state of a driver, and looks for the devices of its claims on the host. Fails if its
/// journal cannot be read; a missing one has no claims.
cdi::Result<Status> read_status(const Settings& settings);

/// A line for each socket and claim, and for each device of a claim.
std::string status_text(const Status& status);

std::string status_json(const Status& status);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_INSPECT_STATUS_HPP
