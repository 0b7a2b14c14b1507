// `instance`: the cloud instance type that fits the VM of a peer pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_INSTANCE_HPP
#define CDI_TOOLS_POD_INSTANCE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "input.hpp"

// cloud-api-adaptor fbdde75, src/cloud-providers/util.go.

namespace pod {

/// The annotation of a pod with its instance type.
inline constexpr std::string_view instance_annotation =
    "io.katacontainers.config.hypervisor.machine_type";

/// An instance type; or a request for one, which may name it.
struct InstanceType {
  std::string name{};
  std::uint32_t gpus = 0;
  std::uint32_t vcpus = 0;
  std::uint32_t memory_mib = 0;
  std::map<std::string, std::uint32_t> devices{};  // other than NVIDIA GPUs, by resource name

  static constexpr void fields(auto& list) {
    list("name", &InstanceType::name, cdi::required);
    amounts(list);
  }

  static constexpr void amounts(auto& list) {
    list("gpus", &InstanceType::gpus);
    list("vcpus", &InstanceType::vcpus);
    list("memoryMiB", &InstanceType::memory_mib);
    list("devices", &InstanceType::devices);
  }

  bool fits(const InstanceType& request) const {
    for (const auto& [resource, count] : request.devices) {
      const auto found = devices.find(resource);
      if (count > (found == devices.end() ? 0 : found->second)) return false;
    }
    return gpus >= request.gpus && vcpus >= request.vcpus && memory_mib >= request.memory_mib;
  }

  /// The amounts, for messages.
  std::string text() const {
    auto out = fmt::format("{} GPUs, ", gpus);
    for (const auto& [resource, count] : devices) out += fmt::format("{} {}, ", count, resource);
    return fmt::format("{}{} vCPUs and {} MiB", out, vcpus, memory_mib);
  }
};

struct InstanceRequest : InstanceType {
  static constexpr void fields(auto& list) {
    list("machineType", &InstanceRequest::name);
    amounts(list);
  }
};

/// Instance types, and where their list is.
struct InstanceTypes {
  std::vector<InstanceType> list{};
  Place place{};

  /// The types, if not `with_gpus` without those that have GPUs, as in FilterOutGPUInstances;
  /// sorted by GPUs, memory and vCPUs, as cloud-api-adaptor does; `by_devices` after GPUs by
  /// others.
  std::vector<InstanceType> sorted(bool with_gpus, bool by_devices) const {
    std::vector<InstanceType> out;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].name.empty()) place.item(i).at("name").reject("must not be empty");
      if (with_gpus || list[i].gpus == 0) out.push_back(list[i]);
    }
    const auto key = [&](const InstanceType& type) {
      std::uint64_t devices = 0;
      for (const auto& one : type.devices) devices += by_devices ? one.second : 0;
      return std::tuple{type.gpus, devices, type.memory_mib, type.vcpus};
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return out;
  }

  /// The smallest type that fits; empty if none does.
  std::string smallest(const InstanceType& request, bool with_gpus) const {
    for (const auto& type : sorted(with_gpus, true)) {
      if (type.fits(request)) return type.name;
    }
    return {};
  }

  /// The result of cloud-api-adaptor's binary search, Go's sort.Search, in its own order. The vCPUs
  /// are not sorted in this order, so the search misses types.
  std::string searched(const InstanceType& request) const {
    const auto types = sorted(request.gpus > 0, false);
    const auto found = std::partition_point(types.begin(), types.end(),
                                            [&](const auto& type) { return !type.fits(request); });
    return found == types.end() ? std::string{} : found->name;
  }
};

/// What `instance` is given.
struct GivenTypes {
  std::vector<InstanceType> types{};
  std::optional<InstanceRequest> request{};
  std::string fallback{};
  std::optional<std::vector<std::string>> valid_types{};

  static constexpr void fields(auto& list) {
    list("types", &GivenTypes::types, cdi::required);
    list("request", &GivenTypes::request);
    list("default", &GivenTypes::fallback);
    list("validTypes", &GivenTypes::valid_types);
  }
};

/// A type, and the rule that decided.
struct InstanceAnswer {
  int version = 1;
  std::string instance{};
  std::string rule{};

  static constexpr void fields(auto& list) {
    list("version", &InstanceAnswer::version);
    list("instance", &InstanceAnswer::instance);
    list("rule", &InstanceAnswer::rule);
  }
};

/// The best fit, with a warning if the two searches differ.
inline std::string best_fit(const InstanceTypes& types, const InstanceType& request,
                            bool compatible, Warnings& warnings) {
  const auto right = types.smallest(request, request.gpus > 0);
  const auto upstream = types.searched(request);
  const auto& chosen = compatible ? upstream : right;
  if (chosen.empty()) {
    types.place.reject("no type fits " + request.text() +
                       (right.empty() ? "" : " in the binary search, which misses " + right));
  }
  if (right != upstream) {
    warnings.push_back(
        fmt::format("cloud-api-adaptor's binary search finds {}; the first type that fits is {}",
                    upstream.empty() ? "no type" : upstream, right));
  }
  return chosen;
}

/// The type with devices that cloud-api-adaptor does not count.
inline std::string fit_for_devices(const InstanceTypes& types, const InstanceType& request,
                                   Warnings& warnings) {
  auto chosen = types.smallest(request, true);
  if (chosen.empty()) types.place.reject("no type fits " + request.text());
  warnings.push_back(
      fmt::format("cloud-api-adaptor counts only NVIDIA GPUs: name the type in the annotation {}",
                  instance_annotation));
  return chosen;
}

/// Checks that the provider allows the chosen type: `validTypes`, or by default all of `types`. An
/// empty list allows only the default.
inline void check_valid(const GivenTypes& given, const std::string& chosen, const Place& root) {
  std::vector<std::string> valid;
  if (given.valid_types) {
    valid = *given.valid_types;
  } else {
    for (const auto& type : given.types) valid.push_back(type.name);
  }
  if (valid.empty() ? chosen == given.fallback
                    : std::find(valid.begin(), valid.end(), chosen) != valid.end()) {
    return;
  }
  root.at(given.valid_types ? "validTypes" : "types")
      .reject(fmt::format("does not contain the chosen type {}{}", cdi::quoted(chosen),
                          valid.empty() ? ", and an empty list allows only the default" : ""));
}

/// The instance type for a request, and the rule that decided: first the annotation, then devices
/// other than NVIDIA GPUs, which only this rule counts, then GPUs, then vCPUs together with memory,
/// then the default.
inline InstanceAnswer answer_instance(const cdi::Document& input, bool compatible,
                                      Warnings& warnings) {
  auto given = read_as<GivenTypes>(input);
  const Place root{&input, {}};
  const InstanceTypes types{given.types, root.at("types")};
  if (!given.request) root.at("request").reject("is missing");
  InstanceType& request = *given.request;
  std::erase_if(request.devices, [](const auto& device) { return device.second == 0; });
  InstanceAnswer answer;
  if (!request.name.empty()) {
    answer = {.instance = request.name, .rule = "machineType"};
  } else if (!request.devices.empty()) {
    answer = {.instance = fit_for_devices(types, request, warnings), .rule = "devices"};
  } else if (request.gpus > 0 || (request.vcpus != 0 && request.memory_mib != 0)) {
    answer = {.instance = best_fit(types, request, compatible, warnings),
              .rule = request.gpus > 0 ? "gpus" : "vcpus and memory"};
  } else if (given.fallback.empty()) {
    root.at("request").reject(
        "needs GPUs, or both vcpus and memoryMiB, because there is no default");
  } else {
    return {.instance = given.fallback, .rule = "default"};
  }
  check_valid(given, answer.instance, root);
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INSTANCE_HPP
