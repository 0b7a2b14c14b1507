// The resources of a pod sandbox, as containerd passes them to Kata in annotations.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_SANDBOX_HPP
#define CDI_TOOLS_POD_SANDBOX_HPP

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "input.hpp"
#include "pod_resources.hpp"
#include "quantity.hpp"

// The keys are from containerd, internal/cri/server/podsandbox/sandbox_run_linux.go; the values are
// from kubelet 1.34, pkg/kubelet/kuberuntime: calculateSandboxResources, and pkg/kubelet/cm:
// MilliCPUToShares and MilliCPUToQuota.

namespace pod {

/// CPU time and memory of a sandbox, without the pod's overhead.
struct Sandbox {
  std::uint64_t period = 0;  // in us; 0 if unknown
  std::int64_t quota = 0;    // in us for each period; negative without a quota
  std::uint64_t shares = 0;  // 1024 for each requested CPU
  std::int64_t memory = 0;   // in bytes; 0 without a limit
  bool known = false;        // whether any value is known
};

namespace detail {

inline constexpr std::string_view sandbox_prefix = "io.kubernetes.cri.sandbox-";

/// Parses a decimal number; false for other text. `plus`: whether the text may begin with a plus
/// sign.
template <class Number>
bool is_number(std::string_view text, Number& number, bool plus = false) {
  if (plus && text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace detail

/// The sandbox that annotations describe, as Kata reads them: text that is not a number becomes 0,
/// with a warning. Only runtime-rs (`rust`) accepts a plus sign before period and shares, which are
/// unsigned.
inline Sandbox read_sandbox(const Member& annotations, bool rust, Answer& answer) {
  Sandbox sandbox;
  const auto read = [&](std::string_view name, auto& number, bool plus) {
    const auto member = annotations.find(std::string{detail::sandbox_prefix}.append(name));
    if (!member) return;
    sandbox.known = true;
    const auto text = member->text();
    if (detail::is_number(text, number, plus)) return;
    number = 0;
    answer.warnings.push_back(member->path() + ": " + cdi::quoted(text) +
                              " is not a number; Kata reads it as 0");
  };
  read("cpu-period", sandbox.period, rust);
  read("cpu-quota", sandbox.quota, true);
  read("cpu-shares", sandbox.shares, rust);
  read("memory", sandbox.memory, true);
  return sandbox;
}

namespace detail {

/// 1024 shares for each CPU; from 2 to 262144, as the kernel accepts.
inline std::uint64_t shares_of(std::int64_t milli) {
  constexpr std::int64_t least = 2;
  constexpr std::int64_t max = 262'144;
  if (milli >= max) return max;  // avoids overflow of the product
  return static_cast<std::uint64_t>(std::clamp(milli * 1024 / 1000, least, max));
}

/// The CPU time in each period of 100 ms: at least 1 ms, and 0 without a limit.
inline std::int64_t quota_of(std::int64_t milli, const Member& place) {
  constexpr std::int64_t us_for_milli = 100;
  constexpr std::int64_t least = 1000;
  if (milli > max_units / us_for_milli) place.reject("the CPU limits are too large");
  return milli == 0 ? 0 : std::max(milli * us_for_milli, least);
}

inline std::int64_t milli_of(const ResourceList& list, const Member& place) {
  const auto milli = thousandths(amount_of(list, "cpu"));
  if (!milli) place.reject("the sum of CPUs is too large");
  return *milli;
}

/// Whether each container has equal requests and limits for CPU and memory: QoS class Guaranteed.
inline bool is_guaranteed(const PodSpec& pod) {
  const auto guaranteed = [](const Requirements& own) {
    for (const auto* name : {"cpu", "memory"}) {
      const auto limit = amount_of(own.limits, name);
      if (limit == Quantity{} || amount_of(own.requests, name) != limit) return false;
    }
    return true;
  };
  bool all = true;
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) all = all && guaranteed(one.resources);
  }
  return all;
}

}  // namespace detail

/// Whether kubelet's static CPU manager assigns exclusive CPUs to a container of a pod, whose
/// requests are set: the pod is Guaranteed, has no resources of its own, and the container requests
/// whole CPUs (Kubernetes 1.37 without the feature gate PodLevelResourceManagers).
inline bool has_exclusive_cpus(const PodSpec& pod) {
  if (!pod.pod_level.requests.empty() || !pod.pod_level.limits.empty()) return false;
  if (!detail::is_guaranteed(pod)) return false;
  for (const auto* list : {&pod.containers, &pod.init_containers}) {
    for (const auto& one : *list) {
      if (amount_of(one.resources.requests, "cpu").nano == 0) return true;
    }
  }
  return false;
}

/// The sandbox of a pod whose requests are set. With exclusive CPUs, kubelet sets no quota
/// (DisableCPUQuotaWithExclusiveCPUs, Kubernetes 1.33).
inline Sandbox sandbox_of(const PodSpec& pod, bool static_cpu_manager) {
  const auto requests = effective(pod, &Requirements::requests);
  const auto limits = effective(pod, &Requirements::limits);
  const auto limit = detail::milli_of(limits, pod.place);
  const bool exclusive = static_cpu_manager && has_exclusive_cpus(pod);
  const auto requested = requests.contains("cpu") ? detail::milli_of(requests, pod.place) : limit;
  return {.period = 100'000,
          .quota = exclusive ? -1 : detail::quota_of(limit, pod.place),
          .shares = detail::shares_of(requested),
          .memory = units(amount_of(limits, "memory")),
          .known = true};
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_SANDBOX_HPP
