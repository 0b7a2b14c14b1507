// `peerpod`: the annotations that the webhook of cloud-api-adaptor writes for a pod.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_POD_PEERPOD_HPP
#define CDI_POD_PEERPOD_HPP

#include <optional>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"
#include "kata_annotations.hpp"
#include "pod_resources.hpp"
#include "quantity.hpp"

// cloud-api-adaptor fbdde75: src/webhook/pkg/mutating/remove-resourcespec.go, pkg/utils/utils.go.

namespace pod {

/// What the command line of `peerpod` sets.
struct PeerpodOptions {
  std::string runtime_class = "kata-remote";  // TARGET_RUNTIMECLASS of the webhook
  bool set_defaults = false;                  // the requests that the API server sets
};

namespace detail {

/// The sum over all containers and all init containers. Kubernetes counts init containers
/// otherwise.
inline ResourceList summed(const PodSpec& pod, ResourceList Requirements::*which) {
  ResourceList total;
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) add_to(total, one.resources.*which, pod.place);
  }
  return total;
}

/// The limit when there is a request and the limit is not less; else the request. Nothing without
/// a request, even if there is a limit.
inline std::optional<Quantity> asked_amount(const Quantity& request, const Quantity& limit) {
  if (request == Quantity{}) return std::nullopt;
  return limit >= request ? limit : request;
}

}  // namespace detail

/// The annotations of the webhook. It changes only pods of its runtime class, counts neither
/// pod-level resources nor the overhead, and rounds CPUs and MiB up.
inline Answer answer_peerpod(const Member& input, const PeerpodOptions& options) {
  auto pod = read_pod(input);
  Answer answer{.value = {{"annotations", Json::object()}}};
  if (pod.runtime_class != options.runtime_class) {
    answer.warnings.push_back("pod.spec.runtimeClassName is not " + options.runtime_class +
                              ": the webhook leaves the pod alone");
    return answer;
  }
  if (options.set_defaults) set_default_requests(pod);
  const auto requests = detail::summed(pod, &Requirements::requests);
  const auto limits = detail::summed(pod, &Requirements::limits);
  auto& out = answer.value["annotations"];
  const auto amount = [&](std::string_view name) {
    return detail::asked_amount(amount_of(requests, name), amount_of(limits, name));
  };
  if (const auto cpu = amount("cpu")) out[vcpus_annotation] = std::to_string(units(*cpu));
  if (const auto memory = amount("memory")) {
    out[memory_annotation] = std::to_string(mebibytes(*memory));
  }
  constexpr std::string_view gpu = "nvidia.com/gpu";
  if (const auto gpus = amount_of(requests, gpu); gpus != Quantity{}) {
    if (gpus.nano != 0) pod.place.refuse("the sum of nvidia.com/gpu must be a whole number");
    out[gpus_annotation] = decimal_text(gpus.whole);
    answer.warnings.emplace_back("each container of the pod gets all NVIDIA GPUs of the VM");
  }
  for (const auto& [name, limit] : limits) {
    const bool counted = name == "cpu" || name == "memory" || name == gpu;
    if (!counted || limit == Quantity{} || amount_of(requests, name) != Quantity{}) continue;
    answer.warnings.push_back(
        "the limit of " + cdi::quoted(name) +
        " counts nothing without a request; the API server sets the request first (--defaults)");
  }
  return answer;
}

}  // namespace pod

#endif  // CDI_POD_PEERPOD_HPP
