// `size`: vCPUs and memory of the VM that Kata boots for a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_SIZE_HPP
#define CDI_TOOLS_POD_SIZE_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "answer.hpp"
#include "input.hpp"
#include "kata_annotations.hpp"
#include "pod_resources.hpp"
#include "quantity.hpp"
#include "sandbox.hpp"

// kata-containers 7c6ba40, with static_sandbox_resource_mgmt. runtime-go: pkg/oci/utils.go;
// runtime-rs: crates/resource/src/cpu_mem/initial_size.rs, and the values in its Makefile.

namespace pod {

/// The options of `size`.
struct SizeOptions {
  std::string formula{};  // rfc, runtime-go or runtime-rs
  std::string profile = "qemu";
  std::string engine = "containerd";  // or crio
  bool static_cpu_manager = false;
  bool verbose = false;
};

/// The default sizes of a Kata configuration, in vCPUs and MiB.
struct Profile {
  std::string_view name;
  float vcpus;  // default_vcpus
  std::int64_t memory;
  float overhead_vcpus;  // of runtime-rs
  std::int64_t overhead_memory;
};

/// runtime-rs, Makefile: DEFVCPUS, DEFMEMSZ, and the overheads of each hypervisor. `tee` is SNP and
/// TDX, `se` is IBM Secure Execution.
inline constexpr std::array<Profile, 6> profiles{{
    {"qemu", 1, 2048, 0.2F, 32},
    {"tee", 1, 2048, 0.4F, 128},
    {"se", 1, 2048, 0.4F, 768},
    {"nvidia", 1, 8192, 0.5F, 512},
    {"nvidia-cpu", 1, 2048, 0.2F, 128},
    {"remote", 1, 2048, 0, 0},
}};

namespace detail {

/// A VM size, and the terms of its sums.
struct Size {
  float vcpus = 0;  // before rounding up; both runtimes use 32-bit floats
  std::int64_t memory = 0;
  Json terms = Json::object();
};

/// The profile with a name, which must be one of `profiles`.
inline Profile profile_named(std::string_view name) {
  return *std::find_if(profiles.begin(), profiles.end(),
                       [&](const auto& row) { return row.name == name; });
}

inline constexpr std::int64_t least_memory = 256;  // in MiB; runtime-go, MinHypervisorMemory

/// The number in an annotation; negative for other text.
inline float number_of(const Member& annotation) {
  const auto text = annotation.text();
  char* end = nullptr;
  const float number = std::strtof(text.c_str(), &end);
  const bool digits = text.find_first_not_of("0123456789.") == std::string::npos;
  return digits && !text.empty() && *end == '\0' ? number : -1;
}

/// Applies the annotations that override the defaults of a configuration.
inline void read_defaults(const Member& annotations, Profile& profile) {
  if (const auto vcpus = annotations.find(vcpus_annotation)) {
    profile.vcpus = number_of(*vcpus);
    if (profile.vcpus < 0) vcpus->reject("must be a number of vCPUs, such as 1.5");
  }
  if (const auto memory = annotations.find(memory_annotation)) {
    std::uint32_t number = 0;
    if (!is_number(memory->text(), number)) memory->reject("must be a number of MiB, such as 2048");
    if (number < least_memory && profile.name != "remote")
      memory->reject("must be at least 256 MiB");
    profile.memory = number;
  }
}

/// The vCPUs of a quota; 0 without a quota.
inline float quota_vcpus(const Sandbox& sandbox) {
  if (sandbox.quota < 0 || sandbox.period == 0) return 0;
  return static_cast<float>(sandbox.quota) / static_cast<float>(sandbox.period);
}

inline std::int64_t whole_mebibytes(std::int64_t bytes) {
  return bytes < 0 ? 0 : bytes / (1 << 20);
}

/// A number for the terms, rounded to millionths.
inline double to_millionths(float number) {
  return std::round(double{number} * 1e6) / 1e6;
}

/// runtime-go: the default plus the limit. Without a quota, CPUs are derived from the shares.
inline Size size_of_go(const Sandbox& sandbox, const Profile& profile, Answer& answer) {
  float cpu = quota_vcpus(sandbox);
  std::string_view source = "cpu-quota / cpu-period";
  if (sandbox.quota < 0 && sandbox.shares > 0) {
    cpu = static_cast<float>(sandbox.shares / 1024 + (sandbox.shares % 1024 == 0 ? 0 : 1));
    source = "cpu-shares / 1024, rounded up";
    answer.warnings.emplace_back(
        "there is no CPU quota, as with exclusive CPUs: runtime-go derives vCPUs from the shares");
  }
  const auto limit = whole_mebibytes(sandbox.memory);
  return {
      .vcpus = profile.vcpus + cpu,
      .memory = profile.memory + limit,
      .terms = {{"vcpus",
                 {{"default_vcpus", to_millionths(profile.vcpus)}, {source, to_millionths(cpu)}}},
                {"memoryMiB", {{"default_memory", profile.memory}, {"memory limit", limit}}}}};
}

/// runtime-rs: the overhead plus the limit, or the default if there is no limit at all.
inline Size size_of_rs(const Sandbox& sandbox, const Profile& profile, Answer& answer) {
  const float cpu = quota_vcpus(sandbox);
  auto limit = whole_mebibytes(sandbox.memory);
  limit += limit % 2;  // aligned to 2 MiB
  if (sandbox.quota < 0) {
    answer.warnings.emplace_back(
        "there is no CPU quota, as with exclusive CPUs: runtime-rs ignores the shares");
  }
  if (cpu == 0 && limit == 0) {
    return {.vcpus = profile.vcpus,
            .memory = profile.memory,
            .terms = {{"vcpus", {{"default_vcpus", to_millionths(profile.vcpus)}}},
                      {"memoryMiB", {{"default_memory", profile.memory}}}}};
  }
  if (limit == 0) {
    answer.warnings.push_back(
        fmt::format("there is a CPU limit but no memory limit: runtime-rs boots with its overhead "
                    "alone, {} MiB",
                    profile.overhead_memory));
  }
  return {.vcpus = std::max(1.0F, profile.overhead_vcpus + cpu),
          .memory = profile.overhead_memory + limit,
          .terms = {{"vcpus",
                     {{"overhead", to_millionths(profile.overhead_vcpus)},
                      {"cpu-quota / cpu-period", to_millionths(cpu)},
                      {"at least", 1}}},
                    {"memoryMiB",
                     {{"overhead", profile.overhead_memory}, {"memory limit, to 2 MiB", limit}}}}};
}

/// The first proposal of Confidential Containers: 1 vCPU and 2048 MiB more than requested, with
/// CPUs in thousandths.
inline Size size_of_rfc(std::int64_t milli, const Quantity& memory) {
  const auto vcpus = static_cast<float>(milli / 1000 + (milli % 1000 == 0 ? 0 : 1));
  const auto mib = mebibytes(memory);
  return {.vcpus = 1 + vcpus,
          .memory = 2048 + mib,
          .terms = {{"vcpus", {{"base", 1}, {"requested, rounded up", to_millionths(vcpus)}}},
                    {"memoryMiB", {{"base", 2048}, {"requested, rounded up", mib}}}}};
}

/// The amounts of a sandbox, for the formula based on requests.
inline Size size_of_rfc(const Sandbox& sandbox, const Member& place) {
  const auto milli_vcpus = std::ceil(double{quota_vcpus(sandbox)} * 1000);
  if (milli_vcpus > 1e15) place.reject("requests too many CPUs");
  return size_of_rfc(static_cast<std::int64_t>(milli_vcpus),
                     {std::max<std::int64_t>(sandbox.memory, 0), 0});
}

/// Warns about containers without limits, which may use more than the VM has.
inline void warn_about_limits(const PodSpec& pod, Answer& answer) {
  for (const auto* name : {"cpu", "memory"}) {
    if (pod.pod_level.limits.contains(name)) continue;
    for (const auto& one : pod.containers) {
      if (one.resources.limits.contains(name)) continue;
      answer.warnings.push_back(fmt::format("container {} has no {} limit, which counts as 0",
                                            cdi::quoted(one.name), name));
    }
  }
}

/// The members that `-v` adds to the answer.
inline void add_sandbox_terms(const Sandbox& sandbox, Json& value) {
  value["sandbox"] = {{"cpu-period", sandbox.period},
                      {"cpu-quota", sandbox.quota},
                      {"cpu-shares", sandbox.shares},
                      {"memory", sandbox.memory}};
}

/// The amounts that Kubernetes accounts for a pod: its requests and its overhead.
inline void add_accounting(const PodSpec& pod, Json& value) {
  auto counted = effective(pod, &Requirements::requests);
  add_to(counted, pod.overhead, pod.place);
  value["kubernetes"] = {
      {"cpuMilli", milli_of(counted, pod.place)},
      {"memoryMiB", mebibytes(amount_of(counted, "memory"))},
      {"overheadCpuMilli", milli_of(pod.overhead, pod.place)},
      {"overheadMemoryMiB", mebibytes(amount_of(pod.overhead, "memory"))},
  };
}

/// A part of a pod's overhead: the size of the VM minus the requests. Nullopt, with a warning, if
/// the requests exceed the size of the VM.
inline std::optional<std::int64_t> part_of_overhead(std::int64_t size, std::int64_t requested,
                                                    std::string_view what, Answer& answer) {
  if (size >= requested) return size - requested;
  answer.warnings.push_back(
      fmt::format("the requests are for {} {} and the VM has {}: no overhead makes both agree; "
                  "give each container limits that equal its requests",
                  requested, what, size));
  return std::nullopt;
}

/// Adds the overhead with which Kubernetes accounts for the whole VM of a pod.
inline void add_overhead(const PodSpec& pod, Answer& answer) {
  constexpr std::int64_t mebibyte = 1 << 20;
  const auto vcpus = answer.value["vcpus"].get<std::int64_t>();
  const auto memory = answer.value["memoryMiB"].get<std::int64_t>();
  if (memory > max_units / mebibyte) pod.place.reject("requests more than 2^63 - 1 bytes");
  const auto requests = effective(pod, &Requirements::requests);
  const auto milli =
      part_of_overhead(vcpus * 1000, milli_of(requests, pod.place), "thousandths of a CPU", answer);
  const auto bytes =
      part_of_overhead(memory * mebibyte, units(amount_of(requests, "memory")), "bytes", answer);
  if (!milli || !bytes) return;
  answer.value["podOverhead"] = {
      {"cpu", *milli % 1000 == 0 ? fmt::format("{}", *milli / 1000) : fmt::format("{}m", *milli)},
      {"memory", *bytes % mebibyte == 0 ? fmt::format("{}Mi", *bytes / mebibyte)
                                        : fmt::format("{}", *bytes)}};
}

/// Fills in the answer from a size, and adds annotations that set this size where Kata adds no
/// limits.
inline void set_size(const Size& size, const SizeOptions& options, const Member& place,
                     Answer& answer) {
  constexpr float max_vcpus = 1e9F;
  if (!(size.vcpus < max_vcpus)) place.reject("requests more than 10^9 vCPUs");
  if (size.memory == 0) place.reject("the VM would have no memory, which Kata refuses");
  answer.value["vcpus"] =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(size.vcpus)));
  answer.value["memoryMiB"] = size.memory;
  answer.value["annotations"] = {
      {vcpus_annotation, fmt::format("{}", answer.value["vcpus"].get<std::int64_t>())},
      {memory_annotation,
       fmt::format(
           "{}", options.profile == "remote" ? size.memory : std::max(size.memory, least_memory))}};
  if (options.verbose) answer.value["terms"] = size.terms;
}

inline Size size_of(const Sandbox& sandbox, const Profile& profile, const SizeOptions& options,
                    const Member& place, Answer& answer) {
  if (options.formula == "rfc") return size_of_rfc(sandbox, place);
  return options.formula == "runtime-go" ? size_of_go(sandbox, profile, answer)
                                         : size_of_rs(sandbox, profile, answer);
}

inline Answer size_of_annotations(const Member& annotations, const SizeOptions& options) {
  Answer answer;
  auto profile = profile_named(options.profile);
  read_defaults(annotations, profile);
  const auto sandbox = read_sandbox(annotations, options.formula == "runtime-rs", answer);
  if (!sandbox.known) {
    answer.warnings.emplace_back(
        "there are no annotations io.kubernetes.cri.sandbox-*: CRI-O writes none, and Kata boots "
        "with "
        "its default size");
  }
  set_size(size_of(sandbox, profile, options, annotations, answer), options, annotations, answer);
  if (options.verbose) add_sandbox_terms(sandbox, answer.value);
  return answer;
}

inline Answer size_of_pod(const Member& object, const SizeOptions& options) {
  Answer answer;
  auto pod = read_pod(object);
  set_default_requests(pod);
  auto profile = profile_named(options.profile);
  const auto metadata = object.find("metadata");
  if (metadata && metadata->find("annotations"))
    read_defaults(metadata->at("annotations"), profile);
  auto sandbox = sandbox_of(pod, options.static_cpu_manager);
  if (options.engine == "crio") {
    sandbox = {};
    answer.warnings.emplace_back(
        "CRI-O passes no sizes to Kata, which boots with its default size");
  }
  Size size;
  if (options.formula == "rfc") {
    const auto requests = effective(pod, &Requirements::requests);
    size = size_of_rfc(milli_of(requests, pod.place), amount_of(requests, "memory"));
  } else {
    size = size_of(sandbox, profile, options, pod.place, answer);
    if (sandbox.known) warn_about_limits(pod, answer);
  }
  set_size(size, options, pod.place, answer);
  add_overhead(pod, answer);
  if (options.verbose) {
    add_sandbox_terms(sandbox, answer.value);
    add_accounting(pod, answer.value);
  }
  return answer;
}

}  // namespace detail

/// The size of the VM, from a sandbox's annotations or from a pod.
inline Answer answer_size(const Member& input, const SizeOptions& options) {
  const auto pod = find_pod(input);
  if (const auto kind = input.find("kind"); kind && !pod) kind->reject("must be a Pod");
  if (!input.find("kind")) input.allow({"annotations", "pod"});
  const auto annotations = pod && input.find("kind") ? std::nullopt : input.find("annotations");
  if (!annotations && !pod) input.reject("the input must be a Pod, or have annotations or pod");
  if (annotations && pod) annotations->reject("cannot be combined with pod");
  return annotations ? detail::size_of_annotations(*annotations, options)
                     : detail::size_of_pod(*pod, options);
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_SIZE_HPP
