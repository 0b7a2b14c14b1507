// Reads ResourceClaims of Kubernetes from files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_RESOURCE_CLAIMS_HPP
#define CDI_TOOLS_CDI_WHY_RESOURCE_CLAIMS_HPP

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>

#include "../../kit/base/text.hpp"
#include "../base/config_file.hpp"
#include "json_members.hpp"

namespace kubelet {

/// A device that the scheduler chose for a request of a claim.
struct AllocatedDevice {
  std::string request{};
  std::string path{};  // driver/pool/device
};

/// A pod that may use a claim.
struct ReservedPod {
  std::string name{};
  std::string uid{};
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
  std::vector<ReservedPod> pods{};

  /// Whether it is reserved for a pod, or was made for it.
  bool is_of(std::string_view pod) const {
    return std::find(owners.begin(), owners.end(), pod) != owners.end() ||
           std::any_of(pods.begin(), pods.end(), [&](const auto& one) { return one.name == pod; });
  }
};

namespace detail {

inline ResourceClaim claim_of(const JsonMember& object, const std::string& file) {
  const auto metadata = object["metadata"];
  const auto status = object["status"];
  const auto space = metadata["namespace"].text();
  ResourceClaim claim{.file = file,
                      .name = metadata["name"].text(),
                      .space = space.empty() ? "default" : space,
                      .uid = metadata["uid"].text(),
                      .is_allocated = status["allocation"].is_there()};
  for (const auto& one : status["allocation"]["devices"]["results"].items()) {
    claim.devices.push_back(
        {one["request"].text(),
         fmt::format("{}/{}/{}", one["driver"].text(), one["pool"].text(), one["device"].text())});
  }
  for (const auto& one : metadata["ownerReferences"].items()) {
    if (one["kind"].text() == "Pod") claim.owners.push_back(one["name"].text());
  }
  for (const auto& one : status["reservedFor"].items()) {
    claim.pods.push_back({one["name"].text(), one["uid"].text()});
  }
  return claim;
}

}  // namespace detail

/// Reads a file with a ResourceClaim or a list of them; `-` is standard input.
inline cdi::Result<std::vector<ResourceClaim>> read_claim_file(const std::string& file) {
  const bool is_input = file == "-";
  const std::string name = is_input ? "standard input" : file;
  const auto text = is_input ? read_standard_input() : cdi::read_file(file);
  if (!text) return text.error();
  const auto document = cdi::parse_json(*text, name);
  if (!document) return document.error();
  const JsonMember root{document->root()};
  const auto kind = root["kind"].text();
  std::vector<ResourceClaim> claims;
  if (kind == "List" || kind == "ResourceClaimList") {
    for (const auto& item : root["items"].items()) {
      const auto own = item["kind"].text();
      const bool is_claim = own == "ResourceClaim" || (own.empty() && kind != "List");
      if (!is_claim) continue;
      claims.push_back(detail::claim_of(item, name));
      claims.back().is_listed = true;
    }
  } else if (kind == "ResourceClaim") {
    claims.push_back(detail::claim_of(root, name));
  }
  if (!claims.empty()) return claims;
  return cdi::Error{.code = cdi::Errc::schema,
                    .message = "it contains no ResourceClaim",
                    .advice = "pass what `kubectl get resourceclaims -o json` prints",
                    .position = {.file = name}};
}

}  // namespace kubelet

#endif  // CDI_TOOLS_CDI_WHY_RESOURCE_CLAIMS_HPP
