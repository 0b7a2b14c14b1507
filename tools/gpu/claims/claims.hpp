// Claims: the assignment of the host's GPUs to workloads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cdi/claims.hpp>
#include <cdi/result.hpp>

#include "../base/options.hpp"
#include "../cdi_specs/fingerprint.hpp"
#include "../survey/survey.hpp"
#include "claim.hpp"
#include "claim_places.hpp"
#include "gpu_driver.hpp"
#include "requested_device.hpp"

namespace prepare {

/// The claims in a journal on the GPUs of a survey. All arguments must outlive this object.
class Claims {
 public:
  Claims(const cdi::ClaimJournal& journal, const Survey& survey, const Options& options,
         ClaimPlaces places = ClaimPlaces::recorded)
      : driver_{journal, survey, options, places},
        claims_{journal,
                driver_,
                {.spec_dir = options.output_dir,
                 .owner = std::string{claims_owner}.append(journal.directory()),
                 .boot_id = boot_id(survey.tree)}} {}

  /// Makes specs agree with claims: see `cdi::Claims::repair`.
  cdi::Result<void> repair() {
    auto repaired = claims_.repair();
    if (!repaired && repaired.error().code == cdi::Errc::invalid) {  // the name of the owner
      repaired.error().advice = "use another --state-dir, in ASCII, of at most 200 characters";
    }
    return repaired;
  }

  const Survey& survey() const { return driver_.survey(); }

  /// The claims in the journal; some may have a fault.
  const std::map<std::string, Claim>& all() const { return claims_.list(); }

  /// The faults of claims, by UID, including claims that are not in `all`.
  const std::map<std::string, std::string>& faults() const { return claims_.faults(); }

  /// Warnings about spec files and engines.
  std::vector<std::string> warnings() const {
    auto out = claims_.warnings();
    out.insert(out.end(), driver_.warnings().begin(), driver_.warnings().end());
    return out;
  }

  /// The fault of a claim as an error.
  cdi::Result<void> check(const std::string& uid) const { return claims_.check(uid); }

  /// Prepares a claim that has no fault. A repeated call changes nothing.
  cdi::Result<Claim> prepare(Claim claim, const std::vector<RequestedDevice>& requested) {
    for (const auto& one : requested) claim.devices.push_back(to_claimed(one));
    return claims_.prepare(std::move(claim));
  }

  /// Releases the devices of a claim. An unknown claim is not an error.
  cdi::Result<void> unprepare(const std::string& uid) { return claims_.unprepare(uid); }

 private:
  GpuDriver driver_;
  cdi::Claims claims_;
};

}  // namespace prepare
