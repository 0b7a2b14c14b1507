// The resources of a pod: its requests and limits, and how kubelet adds them up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_POD_HPP
#define CDI_TOOLS_POD_POD_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

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

inline GivenPod read_pod(const cdi::Document& input) {
  const Place root{&input, {}};
  if (const auto kind = cdi::detail::find_member(input.root(), "kind"); kind && !kind->is_null()) {
    GivenPod out{.is_object = true};
    out.objects.add(input);
    return out;
  }
  auto out = read_as<GivenPod>(input);
  if (out.pod) out.objects.add(*std::move(out.pod), root.at("pod"), "Pod");
  for (std::size_t i = 0; i < out.claims.size(); ++i) {
    out.objects.add(std::move(out.claims[i]), root.at("claims").item(i));
  }
  if (out.type_list) out.types = {*std::move(out.type_list), root.at("types")};
  return out;
}

/// The instance types of a file: a list, or a member of an object as for `instance`.
inline InstanceTypes read_types(const cdi::Document& file) {
  const bool is_list = file.root().kind() == cdi::Document::Kind::list;
  return {is_list ? read_as<std::vector<InstanceType>>(file) : read_as<GivenTypes>(file).types,
          {&file, is_list ? "" : "types"}};
}

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
inline Quantity amount_of(const ResourceList& list, std::string_view resource) {
  const auto found = list.find(resource);
  return found == list.end() ? Quantity{} : found->second;
}

/// Adds amounts of a pod to a sum.
inline void add_to(ResourceList& total, const ResourceList& more, const Object& pod) {
  for (const auto& [name, amount] : more) {
    const auto added = sum(amount_of(total, name), amount);
    if (!added) {
      pod.place.at("spec").reject("the sum of " + cdi::quoted(name) + " is larger than 2^63 - 1");
    }
    total[name] = *added;
  }
}

/// Raises amounts to others that are larger.
inline void raise_to(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, amount] : other) list[name] = std::max(amount_of(list, name), amount);
}

inline ResourceList parsed(const WrittenAmounts& written, const Place& place) {
  ResourceList out;
  for (const auto& [name, value] : written) {
    const auto amount = parse_quantity(value.text);
    if (!amount) place.at(name).reject(amount.error().message);
    // Kubernetes stores CPUs as thousandths in 64 bits.
    if (name == "cpu" && !thousandths(*amount)) place.at(name).reject("is too many CPUs");
    out[name] = *amount;
  }
  return out;
}

inline void parse_amounts(Requirements& resources, const Place& place) {
  resources.requests = parsed(resources.written_requests, place.at("requests"));
  resources.limits = parsed(resources.written_limits, place.at("limits"));
}

/// Completes the claims of a pod with names of claims from templates. Removes a claim without a
/// name in the status, with its uses, because it needs no ResourceClaim.
inline void complete_claims(Object& pod) {
  std::map<std::string, std::string> made;
  for (const auto& one : pod.status.claims) made.emplace(one.name, one.object);
  std::set<std::string> unneeded;
  for (auto& claim : pod.spec.claims) {
    const auto found = made.find(claim.name);
    if (!claim.object.empty() || found == made.end()) continue;
    claim.object = found->second;
    if (claim.object.empty()) unneeded.insert(claim.name);
  }
  const auto is_unneeded = [&](const ClaimName& claim) {
    return unneeded.contains(claim.name);
  };
  std::erase_if(pod.spec.claims, is_unneeded);
  for (auto* one : all_containers(pod)) std::erase_if(one->resources.claims, is_unneeded);
}

/// Parses the amounts of a pod that was read, and completes its claims.
inline void complete(Object& pod) {
  const auto spec = pod.place.at("spec");
  if (pod.spec.containers.empty()) {
    spec.at("containers").reject("must contain at least one container");
  }
  for (const auto& [key, list] : {std::pair{"containers", &pod.spec.containers},
                                  std::pair{"initContainers", &pod.spec.init_containers}}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      parse_amounts((*list)[i].resources, spec.at(key).item(i).at("resources"));
    }
  }
  parse_amounts(pod.spec.resources, spec.at("resources"));
  pod.spec.overhead = parsed(pod.spec.written_overhead, spec.at("overhead"));
  complete_claims(pod);
}

/// The sum over app containers and sidecars, or if larger, the need of an init container together
/// with the sidecars before it. A container without the resource adds 0.
inline ResourceList effective(const Object& pod, ResourceList Requirements::*which) {
  ResourceList total;
  for (const auto& one : pod.spec.containers) add_to(total, one.resources.*which, pod);
  ResourceList sidecars;
  ResourceList max;
  for (const auto& one : pod.spec.init_containers) {
    const auto& own = one.resources.*which;
    if (one.restart_policy == "Always") {
      add_to(total, own, pod);
      add_to(sidecars, own, pod);
      continue;
    }
    ResourceList together;  // without the other resources of sidecars, which are in the total
    for (const auto& [name, amount] : own) together[name] = amount_of(sidecars, name);
    add_to(together, own, pod);
    raise_to(max, together);
  }
  raise_to(total, max);
  for (const auto& [name, amount] : pod.spec.resources.*which) total[name] = amount;
  return total;
}

/// Sets requests as the API server does: for a container from its limits; for the pod from the sum
/// of its containers, or otherwise from the pod's limits.
inline void set_default_requests(Object& pod) {
  for (auto* one : all_containers(pod)) {
    one->resources.requests.insert(one->resources.limits.begin(), one->resources.limits.end());
  }
  const auto summed = effective(pod, &Requirements::requests);
  for (const auto& [name, limit] : pod.spec.resources.limits) {
    const auto found = summed.find(name);
    pod.spec.resources.requests.emplace(name, found == summed.end() ? limit : found->second);
  }
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_POD_HPP
