// The resources of a pod sandbox, as containerd passes them to Kata in annotations.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"
#include "objects.hpp"
#include "pod.hpp"
#include "quantity.hpp"

// The keys are from containerd, internal/cri/server/podsandbox/sandbox_run_linux.go; the values are
// from kubelet 1.34, pkg/kubelet/kuberuntime: calculateSandboxResources, and pkg/kubelet/cm:
// MilliCPUToShares and MilliCPUToQuota.

namespace pod {

/// Parses a decimal number; false for other text. `plus`: whether the text may begin with a plus
/// sign.
template <class Number>
bool is_number(std::string_view text, Number& number, bool plus = false) {
  if (plus && text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc{} && result.ptr == end;
}

/// The sandbox that annotations describe, as Kata reads them: text that is not a number becomes 0,
/// with a warning. Only runtime-rs (`rust`) accepts a plus sign before period and shares, which are
/// unsigned.
inline Sandbox read_sandbox(const Annotations& annotations, bool rust, Answer& answer) {
  Sandbox sandbox;
  bool known = false;
  const auto read = [&](std::string_view name, auto& number, bool plus) {
    const auto found = annotations.find(fmt::format("io.kubernetes.cri.sandbox-{}", name));
    if (found == annotations.end()) return;
    known = true;
    if (is_number(found->second, number, plus)) return;
    number = 0;
    answer.warn("annotations.{}: {} is not a number; Kata reads it as 0", found->first,
                cdi::quoted(found->second));
  };
  read("cpu-period", sandbox.period, rust);
  read("cpu-quota", sandbox.quota, true);
  read("cpu-shares", sandbox.shares, rust);
  read("memory", sandbox.memory, true);
  if (!known) {
    answer.warn(
        "there are no annotations io.kubernetes.cri.sandbox-*: CRI-O writes none, and Kata boots "
        "with its default size");
  }
  return sandbox;
}

inline std::int64_t milli_of(const ResourceList& list, const Object& pod) {
  const auto milli = thousandths(amount_of(list, "cpu"));
  if (!milli) pod.place.at("spec").reject("the sum of CPUs is too large");
  return *milli;
}

/// Whether kubelet's static CPU manager assigns exclusive CPUs to a container of a pod, whose
/// requests are set: the pod is of the QoS class Guaranteed, as each container has equal requests
/// and limits; it has no resources of its own; and the container requests whole CPUs (Kubernetes
/// 1.37 without the feature gate PodLevelResourceManagers).
inline bool has_exclusive_cpus(const Object& pod) {
  bool exclusive = false;
  for (const auto* one : all_containers(pod)) {
    const auto& own = one->resources;
    for (const auto* name : {"cpu", "memory"}) {
      const auto limit = amount_of(own.limits, name);
      if (limit == Quantity{} || amount_of(own.requests, name) != limit) return false;
    }
    exclusive = exclusive || amount_of(own.requests, "cpu").nano == 0;
  }
  return exclusive && pod.spec.resources.requests.empty() && pod.spec.resources.limits.empty();
}

/// The sandbox of a pod whose requests are set. With exclusive CPUs, kubelet sets no quota
/// (DisableCPUQuotaWithExclusiveCPUs, Kubernetes 1.33).
inline Sandbox sandbox_of(const Object& pod, bool static_cpu_manager) {
  constexpr std::int64_t us_for_milli = 100;  // in each period of 100 ms
  constexpr std::int64_t min_quota = 1000;
  constexpr std::int64_t min_shares = 2;
  constexpr std::int64_t max_shares = 262'144;
  const auto requests = effective(pod, &Requirements::requests);
  const auto limits = effective(pod, &Requirements::limits);
  const auto limit = milli_of(limits, pod);
  const auto requested = requests.contains("cpu") ? milli_of(requests, pod) : limit;
  if (limit > max_units / us_for_milli) {
    pod.place.at("spec").reject("the CPU limits are too large");
  }
  Sandbox out{.period = 100'000, .memory = units(amount_of(limits, "memory"))};
  if (limit != 0) out.quota = std::max(limit * us_for_milli, min_quota);
  if (static_cpu_manager && has_exclusive_cpus(pod)) out.quota = -1;
  // The smaller one first avoids overflow of the product.
  out.shares = static_cast<std::uint64_t>(
      std::clamp(std::min(requested, max_shares) * 1024 / 1000, min_shares, max_shares));
  return out;
}

}  // namespace pod
