// The resources of a pod: its requests and limits, and how kubelet adds them up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "instance.hpp"
#include "objects.hpp"
#include "quantity.hpp"

// Kubernetes 1.34: pkg/apis/core/v1/defaults.go, and PodRequests and PodLimits of
// k8s.io/component-helpers/resource/helpers.go.

namespace pod {

// Kata's annotations for the size of a VM.
inline constexpr std::string_view vcpus_annotation =
    "io.katacontainers.config.hypervisor.default_vcpus";
inline constexpr std::string_view memory_annotation =
    "io.katacontainers.config.hypervisor.default_memory";  // in MiB

/// What `size` and `peerpod` are given: an object of Kubernetes or a list of them; or a pod with
/// its claims and the instance types for it, or the annotations of a sandbox.
struct GivenPod {
  std::optional<Object> pod{};
  std::vector<Object> claims{};
  std::optional<std::vector<InstanceType>> type_list{};
  std::optional<Annotations> annotations{};
  bool is_object = false;
  Objects objects{};
  std::optional<InstanceTypes> types{};

  static constexpr void fields(auto& list) {
    list("pod", &GivenPod::pod);
    list("claims", &GivenPod::claims);
    list("types", &GivenPod::type_list);
    list("annotations", &GivenPod::annotations);
  }
};

GivenPod read_pod(const cdi::Document& input);

/// The instance types of a file: a list, or a member of an object as for `instance`.
InstanceTypes read_types(const cdi::Document& file);

/// The containers of a pod, then its init containers.
template <class Pod>
auto all_containers(Pod& pod) {
  std::vector<decltype(pod.spec.containers.data())> out;
  for (auto* list : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (auto& one : *list) out.push_back(&one);
  }
  return out;
}

/// The amount of a resource; 0 if it is absent.
Quantity amount_of(const ResourceList& list, std::string_view resource);

/// Adds amounts of a pod to a sum.
void add_to(ResourceList& total, const ResourceList& more, const Object& pod);

/// Raises each amount to the other one where that is larger.
void raise_to(ResourceList& list, const ResourceList& other);

/// Parses the amounts of a pod that was read, and completes its claims.
void complete(Object& pod);

/// The sum over app containers and sidecars, or if larger, the need of an init container together
/// with the sidecars before it. A container without the resource adds 0.
ResourceList effective(const Object& pod, ResourceList Requirements::*which);

/// Sets requests as the API server does: for a container from its limits; for the pod from the sum
/// of its containers, or otherwise from the pod's limits.
void set_default_requests(Object& pod);

}  // namespace pod
