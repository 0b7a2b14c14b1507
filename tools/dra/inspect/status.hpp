// Reports the state of a driver on its node: its sockets, claims and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include "../../gpu/claims/claim_edits.hpp"
#include "../settings.hpp"
#include "results.hpp"

// Nothing is locked or changed: the driver may run at the same time.

namespace dra {

/// The state of a driver on its node.
struct Status : StatusResult {
  std::string journal{};          // the directory of the claims
  bool has_journal = false;       // whether it exists
  bool has_only_sockets = false;  // claims were not examined

  bool is_good() const;
};

/// Reads the state of a driver, and looks for the devices of its claims on the host. Fails if its
/// journal cannot be read; a missing one has no claims.
cdi::Result<Status> read_status(const Settings& settings);

/// A line for each socket and claim, and for each device of a claim.
std::string status_text(const Status& status);

}  // namespace dra
