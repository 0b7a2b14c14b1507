// Sources of the ResourceClaims that the kubelet names.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "resource_claim.hpp"

namespace dra {

/// The name of a claim, as the kubelet gives it.
struct ClaimName {
  std::string name_space{};
  std::string name{};
  std::string uid{};

  friend bool operator==(const ClaimName&, const ClaimName&) = default;
};

/// A source of ResourceClaims. Its functions are called by several threads.
class ClaimSource {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  ClaimSource() = default;
  ClaimSource(const ClaimSource&) = delete;
  ClaimSource& operator=(const ClaimSource&) = delete;
  virtual ~ClaimSource() = default;

  /// Returns the claim with these names and this UID, as it is now. Fails with `Errc::not_found` if
  /// there is no such claim or its UID differs (see `check_uid`), and with `Errc::timeout` if the
  /// deadline passes first.
  virtual cdi::Result<ResourceClaim> get(const ClaimName& name, Deadline deadline) = 0;

  /// Returns the result of `get` for each name, in the same order. Overridden by sources in which
  /// one request serves many claims.
  virtual std::vector<cdi::Result<ResourceClaim>> get_all(const std::vector<ClaimName>& names,
                                                          Deadline deadline) {
    std::vector<cdi::Result<ResourceClaim>> out;
    out.reserve(names.size());
    for (const auto& name : names) out.push_back(get(name, deadline));
    return out;
  }
};

/// For messages: "default/training".
inline std::string text_of(const ClaimName& name) {
  return cdi::quoted(name.name_space + "/" + name.name);
}

/// Returns the claim if it has the wanted UID. A claim that was deleted and recreated under its
/// name has another UID, and its devices do not belong to the pod.
inline cdi::Result<ResourceClaim> check_uid(ResourceClaim claim, const ClaimName& wanted) {
  if (claim.uid == wanted.uid) return claim;
  return cdi::Error{.code = cdi::Errc::not_found,
                    .message = "the ResourceClaim " + text_of(wanted) + " has the UID " +
                               cdi::quoted(claim.uid) + ", not " + cdi::quoted(wanted.uid) +
                               ": it was deleted and recreated"};
}

}  // namespace dra
