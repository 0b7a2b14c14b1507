// The devices of a node as ResourceSlices of the Kubernetes API, resource.k8s.io/v1.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_SLICES_RESOURCE_SLICES_HPP
#define CDI_TOOLS_GPU_SLICES_RESOURCE_SLICES_HPP

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../base/json_output.hpp"
#include "../claims/found_device.hpp"
#include "../survey/survey.hpp"
#include "attributes.hpp"
#include "counters.hpp"
#include "device_names.hpp"
#include "limits.hpp"

namespace prepare {

/// The owner of slices. Both names must be valid: see `is_dns_subdomain`.
struct SliceOptions {
  std::string driver{};
  std::string node{};
};

namespace detail {

/// The taint of a device that cannot be handed out. Running pods keep the device.
inline Json taint_of(const SliceOptions& options, const Problem& fault) {
  return {{"key", options.driver + "/unusable"}, {"value", fault.code()}, {"effect", "NoSchedule"}};
}

/// A device in a slice.
inline Json slice_device(const Survey& survey, const FoundDevice& device,
                         const GpuCounters& counters, const SliceOptions& options) {
  Json out{{"name", dns_name(device)}, {"attributes", attributes_of(survey.tree, device)}};
  if (const auto bytes = memory_of(survey.tree, device)) {
    out["capacity"] = Json{{"memory", Json{{"value", quantity(*bytes)}}}};
  }
  if (counters) out["consumesCounters"] = counters.consumed_by(device);
  if (const auto& fault = device.fault()) out["taints"] = Json::array({taint_of(options, *fault)});
  return out;
}

/// Adds a spec for each part of a list that fits into a slice.
inline void add_specs(const char* member, const Json& list, std::size_t most,
                      std::vector<Json>& out) {
  for (std::size_t begin = 0; begin < list.size(); begin += most) {
    auto part = Json::array();
    const auto end = std::min(list.size(), begin + most);
    for (auto i = begin; i < end; ++i) part.push_back(list[i]);
    out.push_back(Json{{member, std::move(part)}});
  }
}

}  // namespace detail

/// The specs of a node's slices, which form one pool with the name of the node. There is at least
/// one, to show that a node has no devices. The generation of the pool is 1.
inline std::vector<Json> slice_specs(const Survey& survey, const SliceOptions& options) {
  auto devices = Json::array();
  auto counter_sets = Json::array();
  std::set<std::string> names;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->stable_name().empty()) continue;
    const GpuCounters counters{whole};
    if (counters) counter_sets.push_back(counters.shared());
    for (const auto& device : devices_of(whole)) {
      if (!names.insert(dns_name(device)).second) continue;  // a name means the first one
      devices.push_back(detail::slice_device(survey, device, counters, options));
    }
  }
  std::vector<Json> parts;
  detail::add_specs("sharedCounters", counter_sets, slice_limits::counter_sets, parts);
  detail::add_specs("devices", devices, slice_limits::devices, parts);
  if (devices.empty()) parts.push_back(Json{{"devices", Json::array()}});
  for (auto& part : parts) {
    Json spec{
        {"driver", options.driver},
        {"nodeName", options.node},
        {"pool",
         Json{{"name", options.node}, {"generation", 1}, {"resourceSliceCount", parts.size()}}}};
    spec.update(part);
    part = std::move(spec);
  }
  return parts;
}

/// A slice with a spec, without its owner, which only the cluster knows.
inline Json resource_slice(Json spec, const SliceOptions& options) {
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", "ResourceSlice"},
          {"metadata", Json{{"generateName", fmt::format("{}-{}-", options.node, options.driver)}}},
          {"spec", std::move(spec)}};
}

/// The slices as a list for kubectl.
inline Json slice_list(const Survey& survey, const SliceOptions& options) {
  auto items = Json::array();
  for (auto& spec : slice_specs(survey, options)) {
    items.push_back(resource_slice(std::move(spec), options));
  }
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_SLICES_RESOURCE_SLICES_HPP
