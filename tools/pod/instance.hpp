// `instance` and `slices`: the instance types of a cloud, one that fits the VM of a peer pod, and
// ResourceSlices in which they are the devices.
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
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

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

  /// The types, without `with_gpus` only types without GPUs, as in FilterOutGPUInstances; sorted by
  /// GPUs, memory and vCPUs, as cloud-api-adaptor does; `by_devices` after GPUs by others.
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

/// The best fit, with a warning if the two searches differ.
inline std::string best_fit(const InstanceTypes& types, const InstanceType& request,
                            bool compatible, Answer& answer) {
  const auto right = types.smallest(request, request.gpus > 0);
  const auto upstream = types.searched(request);
  const auto& chosen = compatible ? upstream : right;
  if (chosen.empty()) {
    types.place.reject("no type fits " + request.text() +
                       (right.empty() ? "" : " in the binary search, which misses " + right));
  }
  if (right != upstream) {
    answer.warn("cloud-api-adaptor's binary search finds {}; the first type that fits is {}",
                upstream.empty() ? "no type" : upstream, right);
  }
  return chosen;
}

/// The type with devices that cloud-api-adaptor does not count.
inline std::string fit_for_devices(const InstanceTypes& types, const InstanceType& request,
                                   Answer& answer) {
  auto chosen = types.smallest(request, true);
  if (chosen.empty()) types.place.reject("no type fits " + request.text());
  answer.warn("cloud-api-adaptor counts only NVIDIA GPUs: name the type in the annotation {}",
              instance_annotation);
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
inline Answer answer_instance(const cdi::Document& input, bool compatible) {
  auto given = read_as<GivenTypes>(input);
  const Place root{&input, {}};
  if (!given.request) root.at("request").reject("is missing");
  const InstanceTypes types{given.types, root.at("types")};
  InstanceType& request = *given.request;
  std::erase_if(request.devices, [](const auto& device) { return device.second == 0; });
  Answer answer;
  if (!request.name.empty()) {
    answer.instance = request.name;
    answer.rule = "machineType";
  } else if (!request.devices.empty()) {
    answer.instance = fit_for_devices(types, request, answer);
    answer.rule = "devices";
  } else if (request.gpus > 0 || (request.vcpus != 0 && request.memory_mib != 0)) {
    answer.instance = best_fit(types, request, compatible, answer);
    answer.rule = request.gpus > 0 ? "gpus" : "vcpus and memory";
  } else if (given.fallback.empty()) {
    root.at("request").reject(
        "needs GPUs, or both vcpus and memoryMiB, because there is no default");
  } else {
    answer.instance = given.fallback;
    answer.rule = "default";
    return answer;
  }
  check_valid(given, answer.instance, root);
  return answer;
}

/// The driver of these ResourceSlices.
inline constexpr std::string_view instance_driver = "instances.kata.peerpods.io";

struct Attribute {
  std::optional<std::string> string{};
  std::optional<std::uint32_t> integer{};

  static constexpr void fields(auto& list) {
    list("string", &Attribute::string);
    list("int", &Attribute::integer);
  }
};

struct SliceDevice {
  std::string name{};
  std::map<std::string, Attribute> attributes{};
  bool is_shared = true;  // any number of claims can have it at once

  static constexpr void fields(auto& list) {
    list("name", &SliceDevice::name);
    list("attributes", &SliceDevice::attributes);
    list("allowMultipleAllocations", &SliceDevice::is_shared);
  }
};

/// The options of `slices`, and the number of slices of a pool.
struct SlicesOptions {
  std::string pool = "instances";
  std::int64_t generation = 1;
  std::size_t count = 0;

  static constexpr void fields(auto& list) {
    list("name", &SlicesOptions::pool);
    list("generation", &SlicesOptions::generation);
    list("resourceSliceCount", &SlicesOptions::count);
  }
};

struct SliceSpec {
  std::string_view driver = instance_driver;
  SlicesOptions pool{};
  bool all_nodes = true;
  std::vector<SliceDevice> devices{};

  static constexpr void fields(auto& list) {
    list("driver", &SliceSpec::driver);
    list("pool", &SliceSpec::pool);
    list("allNodes", &SliceSpec::all_nodes);
    list("devices", &SliceSpec::devices);
  }
};

struct Slice {
  std::string_view api_version = "resource.k8s.io/v1";
  std::string_view kind = "ResourceSlice";
  std::map<std::string, std::string> metadata{};
  SliceSpec spec{};

  static constexpr void fields(auto& list) {
    list("apiVersion", &Slice::api_version);
    list("kind", &Slice::kind);
    list("metadata", &Slice::metadata);
    list("spec", &Slice::spec);
  }
};

struct SliceList {
  std::string_view api_version = "v1";
  std::string_view kind = "List";
  std::vector<Slice> items{};
  std::vector<std::string> warnings{};

  static constexpr void fields(auto& list) {
    list("apiVersion", &SliceList::api_version);
    list("kind", &SliceList::kind);
    list("items", &SliceList::items);
  }
};

/// The name of an instance type as a device: a DNS label, such as `g5-xlarge` for `g5.xlarge`.
inline std::string instance_label(std::string_view type) {
  std::string label;
  for (const char c : type) {
    const char lower = cdi::detail::ascii_lower(c);
    const bool good = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    label.push_back(good ? lower : '-');
  }
  return label;
}

/// A C identifier for a resource, such as `amd_com_gpu`: the name of an attribute.
inline std::string attribute_name(std::string_view resource) {
  constexpr std::size_t max_name = 32;
  std::string name;
  for (const char c : resource) {
    const char lower = cdi::detail::ascii_lower(c);
    const bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name.push_back('_');
    name.push_back(digit || (lower >= 'a' && lower <= 'z') ? c : '_');
  }
  return name.substr(0, max_name);
}

/// The device that stands for an instance type.
inline SliceDevice instance_device(const InstanceType& type, const Place& place) {
  constexpr std::size_t max_label = 63;       // of a DNS label; a text may have 64
  constexpr std::size_t max_attributes = 32;  // of a device
  SliceDevice out{.name = instance_label(type.name),
                  .attributes = {{"instanceType", {.string = type.name}},
                                 {"vcpus", {.integer = type.vcpus}},
                                 {"memoryMiB", {.integer = type.memory_mib}},
                                 {"gpus", {.integer = type.gpus}}}};
  const auto& label = out.name;
  const auto name = cdi::quoted(type.name);
  if (label.size() > max_label || label.starts_with('-') || label.ends_with('-')) {
    place.reject(name + " cannot be made a DNS label of at most 63 characters");
  }
  if (type.devices.size() > max_attributes - out.attributes.size()) {
    place.reject(name + " has more than the 32 attributes of a device");
  }
  for (const auto& [resource, count] : type.devices) {
    const auto attribute = attribute_name(resource);
    if (!out.attributes.emplace(attribute, Attribute{.integer = count}).second) {
      place.reject(fmt::format("{} of {} needs the attribute {}, which the device already has",
                               cdi::quoted(resource), name, attribute));
    }
  }
  return out;
}

/// A list of ResourceSlices of resource.k8s.io/v1, with the smallest types first, because the
/// scheduler takes the first device that fits.
inline SliceList answer_slices(const cdi::Document& input, SlicesOptions options) {
  constexpr std::size_t max_devices = 128;  // of a slice
  const InstanceTypes types{read_as<GivenTypes>(input).types, {&input, "types"}};
  if (types.list.empty()) types.place.reject("must contain at least one type");
  options.count = (types.list.size() - 1) / max_devices + 1;
  std::map<std::string, std::string> labels;
  SliceList out;
  for (const auto& type : types.sorted(true, true)) {
    auto device = instance_device(type, types.place);
    const auto [other, is_new] = labels.emplace(device.name, type.name);
    if (!is_new) {
      types.place.reject(fmt::format("{} and {} would have the same name as devices, {}",
                                     cdi::quoted(type.name), cdi::quoted(other->second),
                                     other->first));
    }
    if (out.items.empty() || out.items.back().spec.devices.size() == max_devices) {
      const auto name = fmt::format("{}-{}", options.pool, out.items.size());
      out.items.push_back({.metadata = {{"name", name}}, .spec = {.pool = options}});
    }
    out.items.back().spec.devices.push_back(std::move(device));
  }
  return out;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INSTANCE_HPP
