// `peerpod`: the annotations that the webhook of cloud-api-adaptor writes for a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_PEERPOD_HPP
#define CDI_TOOLS_POD_PEERPOD_HPP

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"
#include "kata_annotations.hpp"
#include "pod_resources.hpp"
#include "quantity.hpp"

// cloud-api-adaptor fbdde75: src/webhook/pkg/mutating/remove-resourcespec.go, pkg/utils/utils.go.

namespace pod {

/// The options of `peerpod`.
struct PeerpodOptions {
  std::string runtime_class = "kata-remote";  // TARGET_RUNTIMECLASS of the webhook
  bool set_defaults = false;                  // first set requests, as the API server does
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
inline std::string named_instance(const Member& input) {
  const auto metadata = input.at("pod").find("metadata");
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
/// for each.
inline void list_unmapped(const Container& container, const std::string& instance, Answer& answer) {
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
    const bool device =
        name.find('/') != std::string::npos;  // otherwise from Kubernetes, such as hugepages
    list("resource", name,
         place + " requests " + cdi::quoted(name) +
             ", which the webhook removes without an annotation, " +
             remedy_for(device ? "the device" : "enough of it", instance) +
             (device && instance.empty() ? ", or request nvidia.com/gpu for whole NVIDIA GPUs"
                                         : ""));
  }
  for (const auto& name : container.claims) {
    list("claim", name,
         place + " uses the ResourceClaim " + cdi::quoted(name) +
             ", which the webhook removes without an annotation, " +
             remedy_for("the device", instance));
  }
}

/// Lists the requests of a pod for which the webhook writes no annotation, with warnings.
inline void list_unmapped(const PodSpec& pod, const std::string& instance, Answer& answer) {
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) list_unmapped(one, instance, answer);
  }
  for (const auto& name : pod.claims) {
    const auto uses = [&](const Container& one) {
      return std::find(one.claims.begin(), one.claims.end(), name) != one.claims.end();
    };
    if (std::any_of(pod.containers.begin(), pod.containers.end(), uses)) continue;
    if (std::any_of(pod.init_containers.begin(), pod.init_containers.end(), uses)) continue;
    answer.warnings.push_back("no container uses the ResourceClaim " + cdi::quoted(name) +
                              " of the pod, and the claim has no annotation");
  }
  if (pod.pod_level.requests.empty() && pod.pod_level.limits.empty()) return;
  answer.warnings.emplace_back(
      "the webhook ignores pod.spec.resources: it adds up only the resources of containers");
}

}  // namespace detail

/// The annotations of the webhook, and in `unmapped` the requests without an annotation. The
/// webhook changes only pods of its runtime class, ignores pod-level resources and the overhead,
/// and rounds CPUs and MiB up.
inline Answer answer_peerpod(const Member& input, const PeerpodOptions& options) {
  auto pod = read_pod(input);
  Answer answer{.value = {{"annotations", Json::object()}}};
  if (pod.runtime_class != options.runtime_class) {
    answer.warnings.push_back("pod.spec.runtimeClassName is not " + options.runtime_class +
                              ": the webhook leaves the pod unchanged");
    return answer;
  }
  if (options.set_defaults) set_default_requests(pod);
  const auto requests = detail::summed(pod, &Requirements::requests);
  const auto limits = detail::summed(pod, &Requirements::limits);
  auto& out = answer.value["annotations"];
  const auto amount = [&](std::string_view name) {
    return detail::requested_amount(amount_of(requests, name), amount_of(limits, name));
  };
  if (const auto cpu = amount("cpu")) out[vcpus_annotation] = std::to_string(units(*cpu));
  if (const auto memory = amount("memory")) {
    out[memory_annotation] = std::to_string(mebibytes(*memory));
  }
  constexpr auto gpu = detail::gpu_resource;
  if (const auto gpus = amount_of(requests, gpu); gpus != Quantity{}) {
    if (gpus.nano != 0) pod.place.reject("the sum of nvidia.com/gpu must be a whole number");
    out[gpus_annotation] = decimal_text(gpus.whole);
    answer.warnings.emplace_back("each container of the pod gets all NVIDIA GPUs of the VM");
  }
  for (const auto& [name, limit] : limits) {
    const bool counted = name == "cpu" || name == "memory" || name == gpu;
    if (!counted || limit == Quantity{} || amount_of(requests, name) != Quantity{}) continue;
    answer.warnings.push_back(
        "the webhook ignores the " + cdi::quoted(name) +
        " limit without a request; the API server sets the request first (--defaults)");
  }
  detail::list_unmapped(pod, detail::named_instance(input), answer);
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_PEERPOD_HPP
