// Reads ResourceClaims of Kubernetes from files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/standard_streams.hpp"
#include "../../kit/kubernetes/resource_claim.hpp"

namespace kubelet {

/// A device that the scheduler chose for a request of a claim.
struct AllocatedDevice {
  std::string request{};
  std::string path{};  // driver/pool/device
};

/// A ResourceClaim of any version of resource.k8s.io: all versions have the same status.
struct ResourceClaim {
  std::string file{};
  std::string name{};
  std::string space{};  // its namespace
  std::string uid{};
  bool is_allocated = false;
  bool is_listed = false;             // including devices of other pods
  std::vector<std::string> owners{};  // the names of the pods for which it was made
  std::vector<AllocatedDevice> devices{};
  std::vector<kubernetes::Reference> pods{};

  /// Whether it is reserved for a pod, or was made for it.
  bool is_of(std::string_view pod) const {
    return std::find(owners.begin(), owners.end(), pod) != owners.end() ||
           std::any_of(pods.begin(), pods.end(), [&](const auto& one) { return one.name == pod; });
  }
};

namespace detail {

inline ResourceClaim claim_of(kubernetes::Claim object, const std::string& file) {
  auto& [name_space, name, uid, owners] = object.metadata;
  ResourceClaim claim{.file = file,
                      .name = std::move(name),
                      .space = std::move(name_space),
                      .uid = std::move(uid),
                      .is_allocated = object.status.allocation.has_value(),
                      .pods = std::move(object.status.reserved)};
  for (const auto& owner : owners) {
    if (owner.kind == "Pod") claim.owners.push_back(owner.name);
  }
  if (!claim.is_allocated) return claim;
  for (const auto& one : object.status.allocation->devices.results) {
    claim.devices.push_back(
        {one.request, fmt::format("{}/{}/{}", one.driver, one.pool, one.device)});
  }
  return claim;
}

}  // namespace detail

/// Reads a file with a ResourceClaim or a list of them; `-` is standard input.
inline cdi::Result<std::vector<ResourceClaim>> read_claim_file(const std::string& file) {
  const bool is_input = file == "-";
  const std::string name = is_input ? "standard input" : file;
  const auto text = is_input ? tools::read_standard_input() : cdi::read_file(file);
  if (!text) return text.error();
  const auto document = cdi::parse_json(*text, name);
  if (!document) return document.error();
  auto all = cdi::read<kubernetes::Claims>(*document);
  if (!all) return std::move(all).error();
  std::vector<ResourceClaim> claims;
  for (auto& item : all->items) {
    const bool is_untyped = item.kind.empty() && all->kind == "ResourceClaimList";
    if (item.kind != "ResourceClaim" && !is_untyped) continue;
    claims.push_back(detail::claim_of(std::move(item), name));
    claims.back().is_listed = true;
  }
  if (all->kind == "ResourceClaim") {
    auto claim = cdi::read<kubernetes::Claim>(*document);
    if (!claim) return std::move(claim).error();
    claims.push_back(detail::claim_of(*std::move(claim), name));
  }
  if (!claims.empty()) return claims;
  return cdi::Error{.code = cdi::Errc::schema,
                    .message = "it contains no ResourceClaim",
                    .advice = "pass what `kubectl get resourceclaims -o json` prints",
                    .position = {.file = name}};
}

}  // namespace kubelet
