// Finds the ResourceClaims of one pod in a list for many pods.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_CLAIMS_OF_POD_HPP
#define CDI_TOOLS_POD_CLAIMS_OF_POD_HPP

#include <map>
#include <string>
#include <vector>

#include "claims.hpp"
#include "pod_resources.hpp"

// Kubernetes 1.37: Name and IsForPod of k8s.io/dynamic-resource-allocation/resourceclaim, and
// findPodResourceClaim of pkg/controller/resourceclaim/controller.go.

namespace pod {

namespace detail {

/// Whether a claim was made for a pod from a template; UIDs count if both are known.
inline bool is_made_for(const Claim& claim, const PodSpec& pod) {
  const bool same_uid = claim.owner.uid.empty() || pod.uid.empty() || claim.owner.uid == pod.uid;
  return !claim.owner.name.empty() && claim.owner.name == pod.name && same_uid;
}

}  // namespace detail

/// Finds the claims of a pod. A claim without a namespace is in that of the pod. Valid as long as
/// the claims.
class ClaimsOfPod {
 public:
  ClaimsOfPod(const std::vector<Claim>& claims, const PodSpec& pod) {
    for (const auto& claim : claims) {
      if (!claim.space.empty() && claim.space != pod.space) continue;
      by_name_.emplace(claim.name, &claim);
      if (detail::is_made_for(claim, pod)) made_.emplace(claim.pod_claim, &claim);
    }
  }

  /// Null if the claim is unknown.
  const Claim* find(const PodClaim& claim) const {
    const auto& map = claim.object.empty() ? made_ : by_name_;
    const auto found = map.find(claim.object.empty() ? claim.name : claim.object);
    return found == map.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, const Claim*> by_name_{};
  std::map<std::string, const Claim*> made_{};  // from templates, by their names in the pod
};

}  // namespace pod

#endif  // CDI_TOOLS_POD_CLAIMS_OF_POD_HPP
