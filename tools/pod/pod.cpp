// The resources of a pod: its requests and limits, and how kubelet adds them up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pod.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace pod {

namespace {

ResourceList parsed(const WrittenAmounts& written, const Place& place) {
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

void parse_amounts(Requirements& resources, const Place& place) {
  resources.requests = parsed(resources.written_requests, place.at("requests"));
  resources.limits = parsed(resources.written_limits, place.at("limits"));
}

/// Completes the claims of a pod with names of claims from templates. Removes a claim without a
/// name in the status, with its uses, because it needs no ResourceClaim.
void complete_claims(Object& pod) {
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

}  // namespace

GivenPod read_pod(const cdi::Document& input) {
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

InstanceTypes read_types(const cdi::Document& file) {
  const bool is_list = file.root().kind() == cdi::Document::Kind::list;
  return {is_list ? read_as<std::vector<InstanceType>>(file) : read_as<GivenTypes>(file).types,
          {&file, is_list ? "" : "types"}};
}

Quantity amount_of(const ResourceList& list, std::string_view resource) {
  const auto found = list.find(resource);
  return found == list.end() ? Quantity{} : found->second;
}

void add_to(ResourceList& total, const ResourceList& more, const Object& pod) {
  for (const auto& [name, amount] : more) {
    const auto added = sum(amount_of(total, name), amount);
    if (!added) {
      pod.place.at("spec").reject("the sum of " + cdi::quoted(name) + " is larger than 2^63 - 1");
    }
    total[name] = *added;
  }
}

void raise_to(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, amount] : other) list[name] = std::max(amount_of(list, name), amount);
}

void complete(Object& pod) {
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

ResourceList effective(const Object& pod, ResourceList Requirements::*which) {
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

void set_default_requests(Object& pod) {
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
