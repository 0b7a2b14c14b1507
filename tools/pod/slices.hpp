// `slices`: ResourceSlices in which the devices are the instance types of a cloud.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_SLICES_HPP
#define CDI_TOOLS_POD_SLICES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "input.hpp"
#include "instance.hpp"

// Kubernetes 1.37: pkg/apis/resource/validation has the limits.

namespace pod {

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

#endif  // CDI_TOOLS_POD_SLICES_HPP
