// Gives devices to pods through the device plugin, and takes them back.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../../gpu/claims/claim_edits.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/claims/requested_device.hpp"
#include "../../gpu/slices/device_names.hpp"
#include "../claims/given_device.hpp"
#include "../claims/node_claims.hpp"
#include "../protocol/grpc_server.hpp"

namespace dra {

/// The devices that pods have from the device plugin, among the claims of a node. Any thread may
/// call it.
class GivenDevices {
 public:
  using Clock = NodeClaims::Clock;
  using Names = std::vector<std::string>;

  explicit GivenDevices(NodeClaims& claims) : claims_{claims} {}

  /// Makes claims for devices, and returns their CDI names. Devices with such a claim keep it. If
  /// one fails, no other device gets a new claim: `Errc::not_found` or `Errc::host` if it cannot be
  /// used, `Errc::conflict` if a ResourceClaim has it.
  cdi::Result<Names> give(const Names& devices, const Call& call) {
    return flat(claims_.with_claims<cdi::Result<Names>>(
        &call, NodeClaims::lock_deadline(call),
        [&](prepare::Claims& claims) { return give_all(claims, devices); }));
  }

  /// Makes claims for devices that pods have according to the kubelet.
  cdi::Result<Names> adopt(const Names& devices) {
    return flat(claims_.with_claims<cdi::Result<Names>>(
        nullptr, Clock::now() + patience,
        [&](prepare::Claims& claims) { return give_all(claims, devices); }));
  }

  /// Takes back devices that no pod has.
  cdi::Result<void> take_back(const Names& devices) {
    auto done = claims_.with_claims<cdi::Result<void>>(
        nullptr, Clock::now() + patience, [&](prepare::Claims& claims) -> cdi::Result<void> {
          for (const auto& name : devices) {
            if (auto taken = claims.unprepare(plugin_uid(name)); !taken) return taken;
          }
          return {};
        });
    return done ? std::move(*done) : std::move(done).error();
  }

  /// The devices that the device plugin has given.
  static std::set<std::string> among(const prepare::Claims& claims, const std::string& driver) {
    std::set<std::string> out;
    for (const auto& [uid, claim] : claims.all()) {
      if (is_given(claim, driver)) out.insert(claim.name);
    }
    return out;
  }

 private:
  static constexpr std::chrono::seconds patience{10};

  static cdi::Result<Names> flat(cdi::Result<cdi::Result<Names>> nested) {
    return nested ? std::move(*nested) : std::move(nested).error();
  }

  cdi::Result<Names> give_all(prepare::Claims& claims, const Names& devices) const {
    Names out;
    Names made;
    for (const auto& name : devices) {
      const auto uid = plugin_uid(name);
      const bool is_new = !claims.all().contains(uid);
      auto given = give_one(claims, name);
      if (!given) {
        for (const auto& other : made) static_cast<void>(claims.unprepare(other));
        return std::move(given).error();
      }
      if (is_new) made.push_back(uid);
      out.push_back(given->device_id(0));
    }
    return out;
  }

  cdi::Result<prepare::Claim> give_one(prepare::Claims& claims, const std::string& name) const {
    const auto uid = plugin_uid(name);
    if (auto good = claims.check(uid); !good) return std::move(good).error();
    auto found = prepare::find_by_dns_name(claims.survey(), name);
    if (!found) return std::move(found).error();
    return claims.prepare({.uid = uid,
                           .name = name,
                           .kind = plugin_kind(claims_.places().driver),
                           .spec_dir = claims_.options().output_dir,
                           .options = prepare::kept_options(claims_.options())},
                          {{.name = name, .device = std::move(*found)}});
  }

  NodeClaims& claims_;
};

}  // namespace dra
