// The devices of a node as ResourceSlices of the Kubernetes API, resource.k8s.io/v1.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/kubernetes/resource_slice.hpp"
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

/// A device in a slice.
inline kubernetes::SliceDevice slice_device(const Survey& survey, const FoundDevice& device,
                                            const GpuCounters& counters,
                                            const SliceOptions& options) {
  kubernetes::SliceDevice out{.name = dns_name(device),
                              .attributes = attributes_of(survey.tree, device)};
  if (const auto bytes = memory_of(survey.tree, device))
    out.capacity["memory"] = {quantity(*bytes)};
  if (counters) out.counters = counters.consumed_by(device);
  if (const auto& fault = device.fault()) {
    out.taints = {{options.driver + "/unusable", std::string{fault->code()}}};
  }
  return out;
}

/// The parts of a list that fit into a slice.
template <class T>
std::vector<std::vector<T>> parts_of(const std::vector<T>& list, std::size_t most) {
  std::vector<std::vector<T>> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % most == 0) out.emplace_back();
    out.back().push_back(list[i]);
  }
  return out;
}

}  // namespace detail

/// The specs of a node's slices, which form one pool with the name of the node. There is at least
/// one, to show that a node has no devices. The generation of the pool is 1.
inline std::vector<kubernetes::SliceSpec> slice_specs(const Survey& survey,
                                                      const SliceOptions& options) {
  std::vector<kubernetes::SliceDevice> devices;
  std::vector<kubernetes::SharedCounters> counter_sets;
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
  std::vector<kubernetes::SliceSpec> out;
  for (auto& part : detail::parts_of(counter_sets, slice_limits::counter_sets)) {
    out.push_back({.counters = std::move(part)});
  }
  for (auto& part : detail::parts_of(devices, slice_limits::devices)) {
    out.push_back({.devices = std::move(part)});
  }
  if (devices.empty()) out.push_back({.devices = devices});
  for (auto& spec : out) {
    spec.driver = options.driver;
    spec.node = options.node;
    spec.pool = {.name = options.node, .count = out.size()};
  }
  return out;
}

/// The slices as a list for kubectl.
inline kubernetes::SliceList slice_list(const Survey& survey, const SliceOptions& options) {
  kubernetes::SliceList out;
  for (auto& spec : slice_specs(survey, options)) {
    out.items.push_back(
        {.metadata = {.generate_name = fmt::format("{}-{}-", options.node, options.driver)},
         .spec = std::move(spec)});
  }
  return out;
}

}  // namespace prepare
