// `requests` and `podresources`: the devices that containerd, CRI-O and Kata inject.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "answer.hpp"

// Kubernetes 1.37: k8s.io/kubelet/pkg/apis/podresources/v1. kata-containers 7c6ba40 reads only the
// devices of plugins; kata-containers#13322 asks for those of DRA.
//
// Other prefixes: NVIDIA's runtime reads the prefixes in its option annotation-prefixes, and NRI
// plugins read cdi-devices.nri.io/container.NAME or nvidia.cdi.k8s.io/container.NAME.

namespace pod {

/// The options of `requests`.
struct RequestsOptions {
  std::string runtime{};                // containerd or crio
  std::vector<std::string> prefixes{};  // of annotations, in addition to cdi.k8s.io/
  std::string cdi = "on";               // enable_cdi of containerd
  bool origins = false;
};

/// The device names that a runtime injects, in order. containerd and CRI-O visit annotations in
/// random order; here they are sorted by key.
Answer answer_requests(const cdi::Document& input, const RequestsOptions& options);

/// The options of `podresources`.
struct PodResourcesOptions {
  std::string pod{};        // NAMESPACE/NAME; empty: all in the input
  std::string container{};  // empty: all of a pod
  bool plugins_only = false;
  bool origins = false;
};

/// The CDI devices of a pod, as Kata would plug them: `RESOURCE=ID` for the device IDs of a device
/// plugin, and the names of DRA drivers, each once and in this order.
Answer answer_podresources(const cdi::Document& input, const PodResourcesOptions& options);

}  // namespace pod
