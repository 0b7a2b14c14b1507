// `peerpod`: writes the annotations that cloud-api-adaptor's webhook gives a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "peerpod.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "input.hpp"
#include "instance.hpp"
#include "objects.hpp"
#include "peer_vm.hpp"
#include "pod.hpp"
#include "quantity.hpp"

namespace pod {

namespace {

constexpr std::string_view gpus_annotation = "io.katacontainers.config.hypervisor.default_gpus";

constexpr std::string_view vm_resource = "kata.peerpods.io/vm";  // the webhook adds it

/// Whether a resource becomes an annotation.
bool has_annotation(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "nvidia.com/gpu";
}

/// Whether a resource is a device of a plugin, such as amd.com/gpu.
bool is_device(std::string_view name) {
  return name.find('/') != std::string_view::npos && name != vm_resource;
}

/// The sum over all containers and all init containers. Kubernetes treats init containers
/// differently.
ResourceList summed(const Object& pod, ResourceList Requirements::*which) {
  ResourceList total;
  for (const auto* one : all_containers(pod)) add_to(total, one->resources.*which, pod);
  return total;
}

/// Whether a claim is one of a pod: the claim of a name, or the one that was made from a template.
bool is_claim_of(const Metadata& pod, const ClaimName& name, const Metadata& claim) {
  // A claim without a namespace is in the namespace of the pod.
  const auto& space = pod.space.empty() ? std::string{"default"} : pod.space;
  if (!claim.space.empty() && claim.space != space) return false;
  if (!name.object.empty()) return claim.name == name.object;
  const auto own = claim.annotations.find("resource.kubernetes.io/pod-claim-name");
  if (own == claim.annotations.end() || own->second != name.name || pod.name.empty()) return false;
  for (const auto& one : claim.owners) {
    if (one.kind != "Pod" || one.api_version != "v1" || !one.controller) continue;
    const bool same_uid = one.uid.empty() || pod.uid.empty() || one.uid == pod.uid;
    return one.name == pod.name && same_uid;
  }
  return false;
}

/// Null, with a warning if there are others, for a claim of a pod that is unknown.
const Object* find_claim(const Object& pod, const ClaimName& name, const Objects& objects,
                         Answer& answer) {
  for (const auto& claim : objects.claims) {
    if (is_claim_of(pod.metadata, name, claim.metadata)) return &claim;
  }
  if (objects.claims.empty()) return nullptr;
  const auto& space = pod.metadata.space;
  answer.warn(
      "in the namespace {}, {} {} of the pod", cdi::quoted(space.empty() ? "default" : space),
      name.object.empty() ? "no claim was made from a template for"
                          : fmt::format("no claim has the name {}, for", cdi::quoted(name.object)),
      cdi::quoted(name.name));
  return nullptr;
}

/// Adds the devices of a pod to its VM: those that containers request, and its claims. Returns the
/// names that mapped claims have in the pod.
std::set<std::string> add_devices(const Object& pod, const Objects& objects, PeerVm& vm,
                                  Answer& answer) {
  auto amounts = summed(pod, &Requirements::requests);
  raise_to(amounts, summed(pod, &Requirements::limits));
  for (const auto& [name, amount] : amounts) {
    if (is_device(name)) vm.add_resource(name, units(amount));
  }
  std::map<std::string, const Object*> claims;
  std::set<std::string> mapped;
  for (const auto& claim : pod.spec.claims) {
    const auto* const found = find_claim(pod, claim, objects, answer);
    if (found == nullptr) continue;
    claims.emplace(claim.name, found);
    if (vm.add_claim(*found)) mapped.insert(claim.name);
  }
  for (const auto* one : all_containers(pod)) {
    OfContainer record{.container = one->name};
    for (const auto& use : one->resources.claims) {
      const auto claim = claims.find(use.name);
      auto device = claim == claims.end() ? "" : vm.guest_device(*claim->second, use.request);
      if (!device.empty()) record.devices.push_back(std::move(device));
    }
    if (!record.devices.empty()) answer.containers.push_back(std::move(record));
  }
  return mapped;
}

/// The annotations that the webhook writes for amounts of a pod.
void write_annotations(const Object& pod, PeerVm& vm, Answer& answer) {
  const auto requests = summed(pod, &Requirements::requests);
  const auto limits = summed(pod, &Requirements::limits);
  // The larger of request and limit; 0 without a request, even if there is a limit.
  const auto amount = [&](std::string_view name) {
    const auto request = amount_of(requests, name);
    return request == Quantity{} ? request : std::max(request, amount_of(limits, name));
  };
  const auto vcpus = units(amount("cpu"));
  const auto memory = mebibytes(amount("memory"));
  if (vcpus != 0) answer.annotations->emplace(vcpus_annotation, std::to_string(vcpus));
  if (memory != 0) answer.annotations->emplace(memory_annotation, std::to_string(memory));
  vm.set_size(vcpus, memory);
  if (const auto gpus = amount_of(requests, "nvidia.com/gpu"); gpus != Quantity{}) {
    if (gpus.nano != 0) {
      pod.place.at("spec").reject("the sum of nvidia.com/gpu must be a whole number");
    }
    answer.annotations->emplace(gpus_annotation, decimal_text(gpus.whole));
    answer.warn("each container of the pod gets all NVIDIA GPUs of the VM");
  }
  for (const auto& [name, limit] : limits) {
    const bool is_lost = has_annotation(name) && limit != Quantity{};
    if (!is_lost || amount_of(requests, name) != Quantity{}) continue;
    answer.warn(
        "the webhook ignores the {} limit without a request; the API server sets the request first "
        "(--defaults)",
        cdi::quoted(name));
  }
}

/// Lists the requests of a container that the webhook removes without an annotation, with a warning
/// for each. `named` is the instance type in the pod's annotation, which may be empty. `mapped` has
/// the claims that are mapped; the instance type of the answer, if any, has all other devices.
void list_unmapped(const Container& container, const std::string& named,
                   const std::set<std::string>& mapped, Answer& answer) {
  const auto place = "container " + cdi::quoted(container.name);
  const auto warn = [&](std::string_view does, const std::string& name, std::string_view what,
                        std::string_view otherwise) {
    const auto remedy =
        named.empty() ? fmt::format("choose an instance type that has {}, with the annotation {}{}",
                                    what, instance_annotation, otherwise)
                      : fmt::format("check that {} has it", cdi::quoted(named));
    answer.warn("{} {} {}, which the webhook removes without an annotation, so the VM lacks it: {}",
                place, does, cdi::quoted(name), remedy);
  };
  auto amounts = container.resources.requests;
  raise_to(amounts, container.resources.limits);
  for (const auto& [name, amount] : amounts) {
    const bool device = is_device(name);  // otherwise from Kubernetes, such as hugepages
    if (has_annotation(name) || amount == Quantity{}) continue;
    if (name == vm_resource) {
      answer.warn(
          "{} has {}: the webhook has already changed this pod, and has removed what its "
          "containers requested: pass the pod as it was created",
          place, cdi::quoted(name));
    } else if (!device || answer.instance.empty()) {
      answer.unmapped.push_back({.container = container.name, .resource = name});
      warn("requests", name, device ? "the device" : "enough of it",
           device ? ", or request nvidia.com/gpu for whole NVIDIA GPUs" : "");
    }
  }
  for (const auto& use : container.resources.claims) {
    if (mapped.contains(use.name)) continue;
    answer.unmapped.push_back({.container = container.name, .claim = use.name});
    warn("uses the ResourceClaim", use.name, "the device", "");
  }
}

/// Warns about what a pod has and the webhook does not read.
void warn_ignored(const Object& pod, Answer& answer) {
  std::set<std::string> used;
  for (const auto* one : all_containers(pod)) {
    for (const auto& use : one->resources.claims) used.insert(use.name);
  }
  for (const auto& claim : pod.spec.claims) {
    if (used.contains(claim.name)) continue;
    answer.warn(
        "no container uses the ResourceClaim {} of the pod, and the claim has no annotation",
        cdi::quoted(claim.name));
  }
  if (pod.spec.resources.requests.empty() && pod.spec.resources.limits.empty()) return;
  answer.warn("the webhook ignores pod.spec.resources: it adds up only those of containers");
}

}  // namespace

Answer answer_peerpod(const cdi::Document& input, const PeerpodOptions& options) {
  auto given = read_pod(input);
  auto& objects = given.objects;
  std::vector<cdi::Document> files;  // which errors refer to
  files.reserve(options.claims.size() + 1);
  for (const auto& file : options.claims) objects.add(files.emplace_back(read_input(file)));
  for (const auto& text : options.classes) {
    const auto equals = text.find('=');
    objects.resources[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (!options.types.empty())
    given.types = read_types(files.emplace_back(read_input(options.types)));
  Answer answer;
  answer.annotations.emplace();
  PeerVm vm{objects, answer};
  if (!objects.pod) {
    if (!given.is_object) Place{&input, "pod"}.reject("is missing");
    vm.add_claims();
    vm.finish(given.types, {});
    return answer;
  }
  auto& pod = *objects.pod;
  complete(pod);
  if (pod.spec.runtime_class != options.runtime_class) {
    answer.warn("pod.spec.runtimeClassName is not {}: the webhook leaves the pod unchanged",
                options.runtime_class);
    return answer;
  }
  if (options.set_defaults) set_default_requests(pod);
  write_annotations(pod, vm, answer);
  const auto mapped = add_devices(pod, objects, vm, answer);
  const auto annotation = pod.metadata.annotations.find(instance_annotation);
  const auto named = annotation == pod.metadata.annotations.end() ? "" : annotation->second;
  vm.finish(given.types, named);
  for (const auto* one : all_containers(pod)) list_unmapped(*one, named, mapped, answer);
  warn_ignored(pod, answer);
  return answer;
}

}  // namespace pod
