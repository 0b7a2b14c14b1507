// The resources of a pod: its requests and limits, and how kubelet adds them up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_POD_RESOURCES_HPP
#define CDI_TOOLS_POD_POD_RESOURCES_HPP

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input.hpp"
#include "quantity.hpp"

// Kubernetes 1.34: pkg/apis/core/v1/defaults.go, and PodRequests and PodLimits of
// k8s.io/component-helpers/resource/helpers.go.

namespace pod {

/// Amounts by resource name, such as `cpu`.
using ResourceList = std::map<std::string, Quantity, std::less<>>;

struct Requirements {
  ResourceList requests{};
  ResourceList limits{};
};

/// A ResourceClaim of the pod that a container uses.
struct ClaimUse {
  std::string name{};     // in the pod's list of ResourceClaims
  std::string request{};  // empty: all requests of the claim
};

struct Container {
  std::string name{};
  bool sidecar = false;  // an init container with restartPolicy Always
  Requirements resources{};
  std::vector<ClaimUse> claims{};
};

/// An entry of a pod's list of ResourceClaims.
struct PodClaim {
  std::string name{};
  std::string object{};  // the name of the ResourceClaim; empty if it is made from a template
};

struct PodSpec {
  Member place;
  std::string name{};
  std::string space = "default";  // its namespace
  std::string uid{};
  std::optional<std::string> runtime_class{};
  std::vector<Container> containers{};
  std::vector<Container> init_containers{};
  Requirements pod_level{};
  std::vector<PodClaim> claims{};
  ResourceList overhead{};
};

inline Quantity amount_of(const ResourceList& list, std::string_view resource) {
  const auto found = list.find(resource);
  return found == list.end() ? Quantity{} : found->second;
}

/// Adds amounts to a sum; `place` is for the error if a sum is too large.
inline void add_to(ResourceList& total, const ResourceList& more, const Member& place) {
  for (const auto& [name, amount] : more) {
    const auto added = sum(amount_of(total, name), amount);
    if (!added) place.reject("the sum of " + cdi::quoted(name) + " is larger than 2^63 - 1");
    total[name] = *added;
  }
}

namespace detail {

inline ResourceList read_list(const Member& object, std::string_view key) {
  ResourceList out;
  const auto list = object.find(key);
  if (!list) return out;
  for (const auto& [name, value] : list->members()) {
    const auto amount = parse_quantity(value.text_or_number());
    if (!amount) value.reject(amount.error().message);
    // Kubernetes stores CPUs as thousandths in 64 bits.
    if (name == "cpu" && !thousandths(*amount)) value.reject("is too many CPUs");
    out[name] = *amount;
  }
  return out;
}

inline Requirements read_requirements(const Member& object) {
  const auto resources = object.find("resources");
  if (!resources) return {};
  return {read_list(*resources, "requests"), read_list(*resources, "limits")};
}

/// The claims that a container uses.
inline std::vector<ClaimUse> read_claim_uses(const Member& resources) {
  std::vector<ClaimUse> out;
  const auto list = resources.find("claims");
  if (!list) return out;
  for (const auto& item : list->items()) {
    out.push_back({item.at("name").text(), text_at(item, "request")});
  }
  return out;
}

/// The names of the ResourceClaims that were made from templates, by their names in the pod.
inline std::map<std::string, std::string> read_made_claims(const Member& pod) {
  std::map<std::string, std::string> out;
  const auto status = pod.find("status");
  const auto list = status ? status->find("resourceClaimStatuses") : std::nullopt;
  if (!list) return out;
  for (const auto& item : list->items()) {
    out.emplace(text_at(item, "name"), text_at(item, "resourceClaimName"));
  }
  return out;
}

/// Reads the claims of a pod. Those that the status has without a name are left out, and so are
/// their uses: Kubernetes needs no ResourceClaim for them.
inline void read_pod_claims(const Member& pod, PodSpec& out) {
  const auto list = pod.at("spec").find("resourceClaims");
  if (!list) return;
  const auto made = read_made_claims(pod);
  std::set<std::string> unneeded;
  for (const auto& item : list->items()) {
    PodClaim claim{item.at("name").text(), text_at(item, "resourceClaimName")};
    const auto found = made.find(claim.name);
    if (claim.object.empty() && found != made.end()) {
      claim.object = found->second;
      if (claim.object.empty()) unneeded.insert(claim.name);
    }
    if (!unneeded.contains(claim.name)) out.claims.push_back(std::move(claim));
  }
  for (auto* const containers : {&out.containers, &out.init_containers}) {
    for (auto& one : *containers) {
      std::erase_if(one.claims, [&](const ClaimUse& use) { return unneeded.contains(use.name); });
    }
  }
}

inline void read_metadata(const Member& pod, PodSpec& out) {
  const auto metadata = pod.find("metadata");
  if (!metadata) return;
  out.name = text_at(*metadata, "name");
  if (const auto space = metadata->find("namespace")) out.space = space->text();
  out.uid = text_at(*metadata, "uid");
}

inline std::vector<Container> read_containers(const Member& spec, std::string_view key) {
  std::vector<Container> out;
  const auto list = spec.find(key);
  if (!list) return out;
  for (const auto& item : list->items()) {
    const auto resources = item.find("resources");
    out.push_back({.name = text_at(item, "name"),
                   .sidecar = text_at(item, "restartPolicy") == "Always",
                   .resources = read_requirements(item),
                   .claims = resources ? read_claim_uses(*resources) : std::vector<ClaimUse>{}});
  }
  return out;
}

inline void raise_to(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, amount] : other) list[name] = std::max(amount_of(list, name), amount);
}

}  // namespace detail

/// The pod of an input: that of `{"pod": ...}`, a Pod as kubectl prints it, or the only Pod in a
/// list; nothing if there is none.
inline std::optional<Member> find_pod(const Member& input) {
  const auto kind = text_at(input, "kind");
  if (kind.empty()) return input.find("pod");
  if (kind == "Pod") return input;
  const auto items = kind == "List" || kind == "PodList" ? input.find("items") : std::nullopt;
  std::optional<Member> found;
  if (!items) return found;
  for (const auto& item : items->items()) {
    // The API leaves the kind out of the items of a list that has one kind.
    const auto own = text_at(item, "kind");
    if (own != "Pod" && !(own.empty() && kind == "PodList")) continue;
    if (found) {
      item.reject(
          "the list has more than one pod: give one, as `kubectl get pod NAME -o json` does");
    }
    found = item;
  }
  return found;
}

/// A pod, `{"spec": ...}`.
inline PodSpec read_pod(const Member& object) {
  const auto spec = object.at("spec");
  PodSpec pod{.place = spec};
  detail::read_metadata(object, pod);
  if (const auto name = spec.find("runtimeClassName")) pod.runtime_class = name->text();
  spec.at("containers");
  pod.containers = detail::read_containers(spec, "containers");
  pod.init_containers = detail::read_containers(spec, "initContainers");
  pod.pod_level = detail::read_requirements(spec);
  detail::read_pod_claims(object, pod);
  pod.overhead = detail::read_list(spec, "overhead");
  if (pod.containers.empty()) spec.at("containers").reject("must contain at least one container");
  return pod;
}

/// The sum over app containers and sidecars, or if larger, the need of an init container together
/// with the sidecars before it. A container without the resource adds 0.
inline ResourceList effective(const PodSpec& pod, ResourceList Requirements::*which) {
  ResourceList total;
  for (const auto& one : pod.containers) add_to(total, one.resources.*which, pod.place);
  ResourceList sidecars;
  ResourceList max;
  for (const auto& one : pod.init_containers) {
    const auto& own = one.resources.*which;
    if (one.sidecar) {
      add_to(total, own, pod.place);
      add_to(sidecars, own, pod.place);
      continue;
    }
    ResourceList together;  // without the other resources of sidecars, which are in the total
    for (const auto& [name, amount] : own) together[name] = amount_of(sidecars, name);
    add_to(together, own, pod.place);
    detail::raise_to(max, together);
  }
  detail::raise_to(total, max);
  for (const auto& [name, amount] : pod.pod_level.*which) total[name] = amount;
  return total;
}

/// Sets requests as the API server does: for a container from its limits; for the pod from the sum
/// of its containers, or otherwise from the pod's limits.
inline void set_default_requests(PodSpec& pod) {
  for (auto* list : {&pod.containers, &pod.init_containers}) {
    for (auto& one : *list) {
      one.resources.requests.insert(one.resources.limits.begin(), one.resources.limits.end());
    }
  }
  const auto summed = effective(pod, &Requirements::requests);
  for (const auto& [name, limit] : pod.pod_level.limits) {
    const auto found = summed.find(name);
    pod.pod_level.requests.emplace(name, found == summed.end() ? limit : found->second);
  }
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_POD_RESOURCES_HPP
