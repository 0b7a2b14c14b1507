// `peerpod`: the annotations that the webhook of cloud-api-adaptor writes for a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_PEERPOD_HPP
#define CDI_TOOLS_POD_PEERPOD_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "claims.hpp"
#include "claims_of_pod.hpp"
#include "input.hpp"
#include "kata_annotations.hpp"
#include "peer_vm.hpp"
#include "pod_resources.hpp"
#include "quantity.hpp"

// cloud-api-adaptor fbdde75: src/webhook/pkg/mutating/remove-resourcespec.go, pkg/utils/utils.go.

namespace pod {

/// The options of `peerpod`.
struct PeerpodOptions {
  std::string runtime_class = "kata-remote";  // TARGET_RUNTIMECLASS of the webhook
  bool set_defaults = false;                  // first set requests, as the API server does
  std::vector<std::string> claims{};          // files with ResourceClaims and DeviceClasses
  std::vector<std::string> classes{};         // CLASS=RESOURCE
  std::string types{};                        // a file with instance types
};

namespace detail {

/// The sum over all containers and all init containers. Kubernetes treats init containers
/// differently.
inline ResourceList summed(const PodSpec& pod, ResourceList Requirements::*which) {
  ResourceList total;
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) add_to(total, one.resources.*which, pod.place);
  }
  return total;
}

/// The larger of request and limit if there is a request; nullopt without a request, even if there
/// is a limit.
inline std::optional<Quantity> requested_amount(const Quantity& request, const Quantity& limit) {
  if (request == Quantity{}) return std::nullopt;
  return limit >= request ? limit : request;
}

inline constexpr std::string_view gpu_resource = "nvidia.com/gpu";
inline constexpr std::string_view vm_resource = "kata.peerpods.io/vm";  // the webhook adds it

/// Whether a resource is a device of a plugin, such as amd.com/gpu.
inline bool is_device(std::string_view name) {
  return name.find('/') != std::string_view::npos && name != vm_resource;
}

/// The names of the resources that a container requests, except those that become annotations.
inline std::set<std::string> unmapped_resources(const Container& container) {
  std::set<std::string> names;
  for (const auto* list : {&container.resources.requests, &container.resources.limits}) {
    for (const auto& [name, amount] : *list) {
      const bool mapped = name == "cpu" || name == "memory" || name == gpu_resource;
      if (!mapped && amount != Quantity{}) names.insert(name);
    }
  }
  return names;
}

/// The instance type from the pod's annotation; empty without the annotation.
inline std::string named_instance(const Member& pod) {
  const auto metadata = pod.find("metadata");
  const auto annotations = metadata ? metadata->find("annotations") : std::nullopt;
  const auto type = annotations ? annotations->find(instance_annotation) : std::nullopt;
  return type ? type->text() : std::string{};
}

/// The remedy for a request that the webhook removes without an annotation; `instance` is the
/// instance type from the pod's annotation.
inline std::string remedy_for(std::string_view what, const std::string& instance) {
  std::string text{"so the VM lacks it: "};
  if (!instance.empty()) {
    return text.append("check that ").append(cdi::quoted(instance)).append(" has it");
  }
  return text.append("choose an instance type that has ")
      .append(what)
      .append(", with the annotation ")
      .append(instance_annotation);
}

/// Lists the requests of a container that the webhook removes without an annotation, with a warning
/// for each. `mapped` has the claims that are mapped; the instance type of the answer, if any, has
/// all other devices.
inline void list_unmapped(const Container& container, const std::string& instance,
                          const std::set<std::string>& mapped, Answer& answer) {
  const auto place = "container " + cdi::quoted(container.name);
  const auto list = [&](const char* what, const std::string& name, const std::string& warning) {
    answer.value["unmapped"].push_back({{"container", container.name}, {what, name}});
    answer.warnings.push_back(warning);
  };
  for (const auto& name : unmapped_resources(container)) {
    if (name == vm_resource) {
      answer.warnings.push_back(place + " has " + cdi::quoted(name) +
                                ": the webhook has already changed this pod, and has removed what "
                                "its containers requested: pass the pod as it was created");
      continue;
    }
    const bool device = is_device(name);  // otherwise from Kubernetes, such as hugepages
    if (device && answer.value.contains("instance")) continue;
    list("resource", name,
         place + " requests " + cdi::quoted(name) +
             ", which the webhook removes without an annotation, " +
             remedy_for(device ? "the device" : "enough of it", instance) +
             (device && instance.empty() ? ", or request nvidia.com/gpu for whole NVIDIA GPUs"
                                         : ""));
  }
  for (const auto& [name, request] : container.claims) {
    if (mapped.contains(name)) continue;
    list("claim", name,
         place + " uses the ResourceClaim " + cdi::quoted(name) +
             ", which the webhook removes without an annotation, " +
             remedy_for("the device", instance));
  }
}

/// Lists the requests of a pod for which the webhook writes no annotation, with warnings.
inline void list_unmapped(const PodSpec& pod, const std::string& instance,
                          const std::set<std::string>& mapped, Answer& answer) {
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) list_unmapped(one, instance, mapped, answer);
  }
  std::set<std::string> used;
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) {
      for (const auto& use : one.claims) used.insert(use.name);
    }
  }
  for (const auto& [name, object] : pod.claims) {
    if (used.contains(name)) continue;
    answer.warnings.push_back("no container uses the ResourceClaim " + cdi::quoted(name) +
                              " of the pod, and the claim has no annotation");
  }
  if (pod.pod_level.requests.empty() && pod.pod_level.limits.empty()) return;
  answer.warnings.emplace_back(
      "the webhook ignores pod.spec.resources: it adds up only the resources of containers");
}

/// The claims of files and of the input: a claim, a list, also of a pod and its claims, or the list
/// `claims`.
inline ClaimInput read_claim_input(const Member& input, const PeerpodOptions& options) {
  ClaimInput out;
  for (const auto& file : options.claims) read_claim_file(file, out);
  const auto kind = text_at(input, "kind");
  if (const auto items = kind == "List" ? input.find("items") : std::nullopt) {
    for (const auto& item : items->items()) {
      if (text_at(item, "kind") != "Pod") read_claims(item, out);
    }
  } else if (!kind.empty() && kind != "Pod" && kind != "PodList") {
    read_claims(input, out);
  } else if (const auto list = input.find("claims")) {
    for (const auto& item : list->items()) read_claims(item, out);
  }
  for (const auto& text : options.classes) {
    const auto equals = text.find('=');
    out.resources[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

/// Warns that the claims that were passed do not have one of a pod.
inline void warn_missing(const PodClaim& claim, const PodSpec& pod, Answer& answer) {
  const auto which = claim.object.empty()
                         ? "no claim was made from a template for "
                         : "no claim has the name " + cdi::quoted(claim.object) + ", for ";
  answer.warnings.push_back("in the namespace " + cdi::quoted(pod.space) + ", " + which +
                            cdi::quoted(claim.name) + " of the pod");
}

/// Adds the devices of a pod to its VM: those that containers request, and its claims. Returns the
/// names that mapped claims have in the pod.
inline std::set<std::string> add_devices(const PodSpec& pod, const ClaimInput& input, PeerVm& vm,
                                         Answer& answer) {
  std::set<std::string> mapped;
  auto amounts = summed(pod, &Requirements::requests);
  raise_to(amounts, summed(pod, &Requirements::limits));
  for (const auto& [name, amount] : amounts) {
    if (is_device(name) && amount != Quantity{}) vm.add_resource(name, units(amount));
  }
  const ClaimsOfPod known{input.claims, pod};
  std::map<std::string, const Claim*> claims;
  for (const auto& claim : pod.claims) {
    const auto* const found = known.find(claim);
    if (found == nullptr) {
      if (!input.claims.empty()) warn_missing(claim, pod, answer);
      continue;
    }
    claims.emplace(claim.name, found);
    if (vm.add_claim(*found)) mapped.insert(claim.name);
  }
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) {
      Json devices = Json::array();
      for (const auto& use : one.claims) {
        const auto claim = claims.find(use.name);
        if (claim == claims.end()) continue;
        const auto device = vm.guest_device(*claim->second, use.request);
        if (!device.empty()) devices.push_back(device);
      }
      if (devices.empty()) continue;
      answer.value["containers"].push_back({{"container", one.name}, {"devices", devices}});
    }
  }
  return mapped;
}

/// The annotations that the webhook writes for amounts of a pod.
inline void write_annotations(const PodSpec& pod, PeerVm& vm, Answer& answer) {
  const auto requests = summed(pod, &Requirements::requests);
  const auto limits = summed(pod, &Requirements::limits);
  auto& out = answer.value["annotations"];
  const auto amount = [&](std::string_view name) {
    return requested_amount(amount_of(requests, name), amount_of(limits, name));
  };
  const auto cpu = amount("cpu");
  const auto memory = amount("memory");
  if (cpu) out[vcpus_annotation] = std::to_string(units(*cpu));
  if (memory) out[memory_annotation] = std::to_string(mebibytes(*memory));
  vm.set_size(cpu ? units(*cpu) : 0, memory ? mebibytes(*memory) : 0);
  if (const auto gpus = amount_of(requests, gpu_resource); gpus != Quantity{}) {
    if (gpus.nano != 0) pod.place.reject("the sum of nvidia.com/gpu must be a whole number");
    out[gpus_annotation] = decimal_text(gpus.whole);
    answer.warnings.emplace_back("each container of the pod gets all NVIDIA GPUs of the VM");
  }
  for (const auto& [name, limit] : limits) {
    const bool counted = name == "cpu" || name == "memory" || name == gpu_resource;
    if (!counted || limit == Quantity{} || amount_of(requests, name) != Quantity{}) continue;
    answer.warnings.push_back(
        "the webhook ignores the " + cdi::quoted(name) +
        " limit without a request; the API server sets the request first (--defaults)");
  }
}

/// The instance types of the input or of a file, which has a list or an object with `types`.
class TypesInput {
 public:
  TypesInput(const Member& input, const std::string& file) {
    if (file.empty()) {
      list_ = input.find("kind") ? std::nullopt : input.find("types");
      return;
    }
    file_.emplace(read_input(file));
    const auto root = file_->root();
    list_ = root.is_list() ? root : root.at("types");
  }

  /// Valid as long as this and the input.
  const std::optional<Member>& list() const { return list_; }

 private:
  std::optional<Input> file_{};
  std::optional<Member> list_{};
};

}  // namespace detail

/// The annotations of the webhook, and in `unmapped` the requests without an annotation. The
/// webhook changes only pods of its runtime class, ignores pod-level resources and the overhead,
/// and rounds CPUs and MiB up. With claims or instance types also what the webhook does not have:
/// the type for all devices, and a CDI spec for the guest. The input may also be claims only.
inline Answer answer_peerpod(const Member& input, const PeerpodOptions& options) {
  Answer answer{.value = {{"annotations", Json::object()}}};
  const auto claims = detail::read_claim_input(input, options);
  const detail::TypesInput types{input, options.types};
  PeerVm vm{claims, answer};
  const auto object = find_pod(input);
  if (const auto kind = input.find("kind"); kind && !object) {
    if (kind->text() == "PodList") kind->reject("the list has no pod");
    vm.add_claims(claims.claims);
    vm.finish(types.list(), {});
    return answer;
  }
  const auto place = object ? *object : input.at("pod");
  auto pod = read_pod(place);
  if (pod.runtime_class != options.runtime_class) {
    answer.warnings.push_back("pod.spec.runtimeClassName is not " + options.runtime_class +
                              ": the webhook leaves the pod unchanged");
    return answer;
  }
  if (options.set_defaults) set_default_requests(pod);
  detail::write_annotations(pod, vm, answer);
  const auto mapped = detail::add_devices(pod, claims, vm, answer);
  const auto named = detail::named_instance(place);
  vm.finish(types.list(), named);
  detail::list_unmapped(pod, named, mapped, answer);
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_PEERPOD_HPP
