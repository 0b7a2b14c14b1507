// `peerpod`: writes the annotations that cloud-api-adaptor's webhook gives a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "answer.hpp"

// cloud-api-adaptor fbdde75: src/webhook/pkg/mutating/remove-resourcespec.go, pkg/utils/utils.go.
// Kubernetes 1.37: Name and IsForPod of k8s.io/dynamic-resource-allocation/resourceclaim, and
// findPodResourceClaim of pkg/controller/resourceclaim/controller.go.

namespace pod {

/// The options of `peerpod`.
struct PeerpodOptions {
  std::string runtime_class = "kata-remote";  // TARGET_RUNTIMECLASS of the webhook
  bool set_defaults = false;                  // first set requests, as the API server does
  std::vector<std::string> claims{};          // files with ResourceClaims and DeviceClasses
  std::vector<std::string> classes{};         // CLASS=RESOURCE
  std::string types{};                        // a file with instance types
};

/// The annotations of the webhook, and in `unmapped` the requests without an annotation. The
/// webhook changes only pods of its runtime class, ignores pod-level resources and the overhead,
/// and rounds CPUs and MiB up. With claims or instance types also what the webhook does not have:
/// the type for all devices, and a CDI spec for the guest. The input may also be claims only.
Answer answer_peerpod(const cdi::Document& input, const PeerpodOptions& options);

}  // namespace pod
