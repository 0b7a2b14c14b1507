// `slices`: ResourceSlices in which the devices are the instance types of a cloud.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_SLICES_HPP
#define CDI_TOOLS_POD_SLICES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answer.hpp"
#include "claim_mapping.hpp"
#include "input.hpp"
#include "instance.hpp"

// Kubernetes 1.37: pkg/apis/resource/validation has the limits.

namespace pod {

/// The options of `slices`.
struct SlicesOptions {
  std::string pool = "instances";
  std::int64_t generation = 1;
};

namespace detail {

inline constexpr std::size_t max_slice_devices = 128;
inline constexpr std::size_t max_label = 63;       // of a DNS label; a text may have 64
inline constexpr std::size_t max_attributes = 32;  // of a device

/// A C identifier for a resource, such as `amd_com_gpu`: the name of an attribute.
inline std::string attribute_name(const std::string& resource) {
  constexpr std::size_t max_name = 32;
  const auto is_digit = [](char c) {
    return c >= '0' && c <= '9';
  };
  std::string name{!resource.empty() && is_digit(resource.front()) ? "_" : ""};
  for (const char c : resource) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    name.push_back(good ? c : '_');
  }
  return name.substr(0, max_name);
}

/// The device that stands for an instance type. Any number of claims can have it at once.
inline Json instance_device(const InstanceType& type, const Member& place) {
  const auto label = instance_label(type.name);
  const bool good = label.size() <= max_label && !label.starts_with('-') && !label.ends_with('-');
  if (!good) {
    place.reject(cdi::quoted(type.name) + " cannot be made a DNS label of at most 63 characters");
  }
  constexpr std::size_t own = 4;  // attributes, other than those of `devices`
  if (type.devices.size() > max_attributes - own) {
    place.reject(cdi::quoted(type.name) + " has more than the 32 attributes of a device");
  }
  Json attributes{{"instanceType", {{"string", type.name}}},
                  {"vcpus", {{"int", type.vcpus}}},
                  {"memoryMiB", {{"int", type.memory_mib}}},
                  {"gpus", {{"int", type.gpus}}}};
  for (const auto& [resource, count] : type.devices) {
    const auto name = attribute_name(resource);
    if (attributes.contains(name)) {
      place.reject(cdi::quoted(resource) + " of " + cdi::quoted(type.name) +
                   " needs the attribute " + name + ", which the device already has");
    }
    attributes[name] = {{"int", count}};
  }
  return {
      {"name", label}, {"attributes", std::move(attributes)}, {"allowMultipleAllocations", true}};
}

}  // namespace detail

/// A list of ResourceSlices of resource.k8s.io/v1, with the smallest types first, because the
/// scheduler takes the first device that fits.
inline Json answer_slices(const Member& input, const SlicesOptions& options) {
  input.allow({"types", "default", "validTypes"});  // as in a file for `peerpod --types`
  const auto place = input.at("types");
  std::map<std::string, std::string> labels;
  std::vector<Json> devices;
  for (const auto& type : detail::smallest_first(place, true)) {
    auto device = detail::instance_device(type, place);
    const auto [other, is_new] = labels.emplace(instance_label(type.name), type.name);
    if (!is_new) {
      place.reject(cdi::quoted(type.name) + " and " + cdi::quoted(other->second) +
                   " would have the same name as devices, " + other->first);
    }
    devices.push_back(std::move(device));
  }
  if (devices.empty()) place.reject("must contain at least one type");
  const auto slices = (devices.size() - 1) / detail::max_slice_devices + 1;
  Json items = Json::array();
  for (std::size_t at = 0; at < devices.size(); at += detail::max_slice_devices) {
    const auto end = std::min(at + detail::max_slice_devices, devices.size());
    Json some = Json::array();
    for (std::size_t i = at; i < end; ++i) some.push_back(devices[i]);
    items.push_back({{"apiVersion", "resource.k8s.io/v1"},
                     {"kind", "ResourceSlice"},
                     {"metadata", {{"name", options.pool + "-" + std::to_string(items.size())}}},
                     {"spec",
                      {{"driver", instance_driver},
                       {"pool",
                        {{"name", options.pool},
                         {"generation", options.generation},
                         {"resourceSliceCount", slices}}},
                       {"allNodes", true},
                       {"devices", std::move(some)}}}});
  }
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_SLICES_HPP
