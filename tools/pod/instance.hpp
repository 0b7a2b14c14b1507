// `instance` and `slices`: the instance types of a cloud, one that fits the VM of a peer pod, and
// ResourceSlices in which they are the devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../kit/kubernetes/resource_slice.hpp"
#include "answer.hpp"
#include "input.hpp"

// cloud-api-adaptor fbdde75, src/cloud-providers/util.go. Kubernetes 1.37:
// pkg/apis/resource/validation has the limits of ResourceSlices.

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

  bool fits(const InstanceType& request) const;

  /// The amounts, for messages.
  std::string text() const;
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

  /// The types, without `with_gpus` only types without GPUs, as in FilterOutGPUInstances; sorted by
  /// GPUs, memory and vCPUs, as cloud-api-adaptor does; `by_devices` after GPUs by others.
  std::vector<InstanceType> sorted(bool with_gpus, bool by_devices) const;

  /// The smallest type that fits; empty if none does.
  std::string smallest(const InstanceType& request, bool with_gpus) const;

  /// The result of cloud-api-adaptor's binary search, Go's sort.Search, in its own order. The vCPUs
  /// are not sorted in this order, so the search misses types.
  std::string searched(const InstanceType& request) const;
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

/// The instance type for a request, and the rule that decided: first the annotation, then devices
/// other than NVIDIA GPUs, which only this rule counts, then GPUs, then vCPUs together with memory,
/// then the default.
Answer answer_instance(const cdi::Document& input, bool compatible);

/// The driver of these ResourceSlices.
inline constexpr std::string_view instance_driver = "instances.kata.peerpods.io";

/// The options of `slices`.
struct SlicesOptions {
  std::string pool = "instances";
  std::int64_t generation = 1;
};

/// The result of `slices`.
struct InstanceSlices : kubernetes::SliceList {
  std::vector<std::string> warnings{};
};

/// The name of an instance type as a device: a DNS label, such as `g5-xlarge` for `g5.xlarge`.
std::string instance_label(std::string_view type);

/// A list of ResourceSlices of resource.k8s.io/v1, with the smallest types first, because the
/// scheduler takes the first device that fits.
InstanceSlices answer_slices(const cdi::Document& input, const SlicesOptions& options);

}  // namespace pod
