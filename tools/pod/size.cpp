// `size`: vCPUs and memory of the VM that Kata boots for a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "size.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <cdi/model/any_value.hpp>

#include "input.hpp"
#include "objects.hpp"
#include "pod.hpp"
#include "quantity.hpp"
#include "sandbox.hpp"

namespace pod {

namespace {

/// The size of a VM, as it is added up.
struct Size {
  float vcpus = 0;  // before rounding up; both runtimes use 32-bit floats
  std::int64_t memory = 0;
  Terms terms{};

  void add_vcpus(const std::string& name, float number) {
    vcpus += number;
    add_term("vcpus", name, std::round(double{number} * 1e6) / 1e6);
  }

  void add_memory(const std::string& name, std::int64_t number) {
    memory += number;
    add_term("memoryMiB", name, number);
  }

  template <class Number>
  void add_term(const char* sum, const std::string& name, Number number) {
    terms[sum][name] = {cdi::ValueKind::number, fmt::format("{}", number)};
  }
};

constexpr std::int64_t min_memory = 256;  // in MiB; runtime-go, MinHypervisorMemory

/// The configuration of a profile, with the annotations that override its defaults.
Profile read_profile(std::string_view name, const Annotations& annotations, const Place& place) {
  auto profile = *std::find_if(profiles.begin(), profiles.end(),
                               [&](const auto& row) { return row.name == name; });
  const auto vcpus = annotations.find(vcpus_annotation);
  if (vcpus != annotations.end()) {
    const auto& text = vcpus->second;
    const bool digits = text.find_first_not_of("0123456789.") == std::string::npos;
    char* end = nullptr;
    profile.vcpus = std::strtof(text.c_str(), &end);
    if (!digits || text.empty() || *end != '\0') {
      place.at(vcpus_annotation).reject("must be a number of vCPUs, such as 1.5");
    }
  }
  const auto memory = annotations.find(memory_annotation);
  if (memory != annotations.end()) {
    std::uint32_t number = 0;
    if (!is_number(memory->second, number)) {
      place.at(memory_annotation).reject("must be a number of MiB, such as 2048");
    }
    if (number < min_memory && name != "remote") {
      place.at(memory_annotation).reject("must be at least 256 MiB");
    }
    profile.memory = number;
  }
  return profile;
}

/// The vCPUs of a quota; 0 without a quota.
float quota_vcpus(const Sandbox& sandbox) {
  if (sandbox.quota < 0 || sandbox.period == 0) return 0;
  return static_cast<float>(sandbox.quota) / static_cast<float>(sandbox.period);
}

std::int64_t whole_mebibytes(std::int64_t bytes) {
  return bytes < 0 ? 0 : bytes / (1 << 20);
}

/// runtime-go: the default plus the limit. Without a quota, CPUs are derived from the shares.
void add_for_go(const Sandbox& sandbox, const Profile& profile, Size& out, Answer& answer) {
  out.add_vcpus("default_vcpus", profile.vcpus);
  out.add_memory("default_memory", profile.memory);
  out.add_memory("memory limit", whole_mebibytes(sandbox.memory));
  if (sandbox.quota >= 0 || sandbox.shares == 0) {
    return out.add_vcpus("cpu-quota / cpu-period", quota_vcpus(sandbox));
  }
  const auto rounded_up = sandbox.shares / 1024 + (sandbox.shares % 1024 == 0 ? 0 : 1);
  out.add_vcpus("cpu-shares / 1024, rounded up", static_cast<float>(rounded_up));
  answer.warn(
      "there is no CPU quota, as with exclusive CPUs: runtime-go derives vCPUs from the shares");
}

/// runtime-rs: the overhead plus the limit, or the default if there is no limit at all.
void add_for_rs(const Sandbox& sandbox, const Profile& profile, Size& out, Answer& answer) {
  const float cpu = quota_vcpus(sandbox);
  auto limit = whole_mebibytes(sandbox.memory);
  limit += limit % 2;  // aligned to 2 MiB
  if (sandbox.quota < 0) {
    answer.warn("there is no CPU quota, as with exclusive CPUs: runtime-rs ignores the shares");
  }
  if (cpu == 0 && limit == 0) {
    out.add_vcpus("default_vcpus", profile.vcpus);
    return out.add_memory("default_memory", profile.memory);
  }
  if (limit == 0) {
    answer.warn(
        "there is a CPU limit but no memory limit: runtime-rs boots with its overhead alone, {} "
        "MiB",
        profile.overhead_memory);
  }
  out.add_vcpus("overhead", profile.overhead_vcpus);
  out.add_vcpus("cpu-quota / cpu-period", cpu);
  out.add_memory("overhead", profile.overhead_memory);
  out.add_memory("memory limit, to 2 MiB", limit);
  out.add_term("vcpus", "at least", 1);
}

/// The first proposal of Confidential Containers: 1 vCPU and 2048 MiB more than requested, with
/// CPUs in thousandths.
void add_for_rfc(std::int64_t milli, const Quantity& memory, Size& out) {
  out.add_vcpus("base", 1);
  out.add_vcpus("requested, rounded up",
                static_cast<float>(milli / 1000 + (milli % 1000 == 0 ? 0 : 1)));
  out.add_memory("base", 2048);
  out.add_memory("requested, rounded up", mebibytes(memory));
}

/// The size for a sandbox; `place` is for errors.
Size size_of(const Sandbox& sandbox, const Profile& profile, const SizeOptions& options,
             const Place& place, Answer& answer) {
  Size out;
  if (options.formula == "runtime-go") {
    add_for_go(sandbox, profile, out, answer);
  } else if (options.formula == "runtime-rs") {
    add_for_rs(sandbox, profile, out, answer);
  } else {
    const auto milli = std::ceil(double{quota_vcpus(sandbox)} * 1000);
    if (milli > 1e15) place.reject("requests too many CPUs");
    add_for_rfc(static_cast<std::int64_t>(milli), {std::max<std::int64_t>(sandbox.memory, 0), 0},
                out);
  }
  return out;
}

/// Sets a size, rounded up, and its annotations.
void set_size(const Size& size, const Sandbox& sandbox, const SizeOptions& options,
              const Place& place, Answer& answer) {
  constexpr float max_vcpus = 1e9F;
  if (!(size.vcpus < max_vcpus)) place.reject("requests more than 10^9 vCPUs");
  if (size.memory == 0) place.reject("the VM would have no memory, which Kata refuses");
  answer.vcpus = static_cast<std::int64_t>(std::ceil(std::max(size.vcpus, 1.0F)));
  answer.memory_mib = size.memory;
  const auto least = options.profile == "remote" ? 0 : min_memory;
  answer.annotations = {
      {std::string{vcpus_annotation}, std::to_string(answer.vcpus)},
      {std::string{memory_annotation}, std::to_string(std::max(size.memory, least))}};
  if (!options.verbose) return;
  answer.terms = size.terms;
  answer.sandbox = sandbox;
}

/// Adds the overhead of a pod: the size of the VM minus the requests; instead, warns if the
/// requests exceed the size.
void add_overhead(const Object& pod, Answer& answer) {
  constexpr std::int64_t mebibyte = 1 << 20;
  if (answer.memory_mib > max_units / mebibyte) {
    pod.place.at("spec").reject("requests more than 2^63 - 1 bytes");
  }
  const auto requests = effective(pod, &Requirements::requests);
  const auto rest_of = [&](std::int64_t size, std::int64_t requested, std::string_view what) {
    if (size < requested) {
      answer.warn(
          "the requests are for {} {} and the VM has {}: no overhead makes both agree; give each "
          "container limits that equal its requests",
          requested, what, size);
    }
    return size - requested;
  };
  const auto milli = rest_of(answer.vcpus * 1000, milli_of(requests, pod), "thousandths of a CPU");
  const auto bytes =
      rest_of(answer.memory_mib * mebibyte, units(amount_of(requests, "memory")), "bytes");
  if (milli < 0 || bytes < 0) return;
  answer.overhead = {
      {"cpu", milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli)},
      {"memory",
       bytes % mebibyte == 0 ? fmt::format("{}Mi", bytes / mebibyte) : fmt::format("{}", bytes)}};
}

/// Warns about containers without limits, which may use more than the VM has.
void warn_about_limits(const ObjectSpec& pod, Answer& answer) {
  for (const auto* name : {"cpu", "memory"}) {
    if (pod.resources.limits.contains(name)) continue;
    for (const auto& one : pod.containers) {
      if (one.resources.limits.contains(name)) continue;
      answer.warn("container {} has no {} limit, which counts as 0", cdi::quoted(one.name), name);
    }
  }
}

Answer size_of_pod(Object& pod, const SizeOptions& options) {
  Answer answer;
  complete(pod);
  set_default_requests(pod);
  const auto spec = pod.place.at("spec");
  const auto profile =
      read_profile(options.profile, pod.metadata.annotations, pod.place.at("metadata.annotations"));
  const bool crio = options.engine == "crio";
  if (crio) answer.warn("CRI-O passes no sizes to Kata, which boots with its default size");
  const auto sandbox = crio ? Sandbox{} : sandbox_of(pod, options.static_cpu_manager);
  auto requests = effective(pod, &Requirements::requests);
  Size size;
  if (options.formula == "rfc") {
    add_for_rfc(milli_of(requests, pod), amount_of(requests, "memory"), size);
  } else {
    size = size_of(sandbox, profile, options, spec, answer);
    if (!crio) warn_about_limits(pod.spec, answer);
  }
  set_size(size, sandbox, options, spec, answer);
  add_overhead(pod, answer);
  if (!options.verbose) return answer;
  const auto& overhead = pod.spec.overhead;
  add_to(requests, overhead, pod);
  answer.kubernetes = {{"cpuMilli", milli_of(requests, pod)},
                       {"memoryMiB", mebibytes(amount_of(requests, "memory"))},
                       {"overheadCpuMilli", milli_of(overhead, pod)},
                       {"overheadMemoryMiB", mebibytes(amount_of(overhead, "memory"))}};
  return answer;
}

}  // namespace

Answer answer_size(const cdi::Document& input, const SizeOptions& options) {
  auto given = read_pod(input);
  const Place root{&input, {}};
  const auto place = root.at("annotations");
  if (given.annotations && given.objects.pod) place.reject("cannot be combined with pod");
  if (given.objects.pod) return size_of_pod(*given.objects.pod, options);
  if (given.is_object) root.at("kind").reject("must be a Pod");
  if (!given.annotations) root.reject("the input must be a Pod, or have annotations or pod");
  Answer answer;
  const auto profile = read_profile(options.profile, *given.annotations, place);
  const auto sandbox = read_sandbox(*given.annotations, options.formula == "runtime-rs", answer);
  const auto size = size_of(sandbox, profile, options, place, answer);
  set_size(size, sandbox, options, place, answer);
  return answer;
}

}  // namespace pod
