// Adapts ResourceSlices to API servers that do not keep all members.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api_error.hpp"

// A server drops what a disabled feature needs, without an error. A device without its taint would
// be given to pods that it cannot serve, so such devices are left out there.

namespace dra {

/// The features that an API server has.
struct SliceFeatures {
  bool taints = true;
  bool counters = true;

  friend bool operator==(const SliceFeatures&, const SliceFeatures&) = default;
};

namespace detail {

/// Whether a slice has a device with a member, or the member itself.
inline bool has_member(const ApiJson& spec, const char* member) {
  if (!spec.is_object()) return false;
  if (spec.contains(member)) return true;
  const auto devices = spec.find("devices");
  return devices != spec.end() && devices->is_array() &&
         std::any_of(devices->begin(), devices->end(), [&](const ApiJson& device) {
           return device.is_object() && device.contains(member);
         });
}

/// Whether a device needs more of a counter than is left; otherwise consumes it.
inline bool is_alternative(const ApiJson& device, std::set<std::string>& taken) {
  std::set<std::string> own;
  for (const auto& consumed : device.value("consumesCounters", ApiJson::array())) {
    const auto set = text_in(consumed, "counterSet");
    const auto counters = consumed.value("counters", ApiJson::object());
    for (const auto& counter : counters.items()) own.insert(set + "/" + counter.key());
  }
  if (std::any_of(own.begin(), own.end(), [&](const auto& one) { return taken.contains(one); })) {
    return true;
  }
  taken.merge(own);
  return false;
}

}  // namespace detail

/// The features of a server, judging by a spec that it got and the parts that it kept.
inline SliceFeatures kept_features(const ApiJson& sent, const ApiJson& kept) {
  const auto keeps = [&](const char* member) {
    return !detail::has_member(sent, member) || detail::has_member(kept, member);
  };
  return {.taints = keeps("taints"),
          .counters = keeps("consumesCounters") && keeps("sharedCounters")};
}

/// The specs of slices for a server, without devices that need a missing feature. Of devices that
/// exclude each other, the first one stays.
inline std::vector<ApiJson> reduced_slices(const std::vector<ApiJson>& specs,
                                           const SliceFeatures& features) {
  std::vector<ApiJson> out;
  std::set<std::string> taken;
  for (auto spec : specs) {
    if (!features.counters && spec.contains("sharedCounters")) continue;
    auto devices = ApiJson::array();
    for (auto device : spec.value("devices", ApiJson::array())) {
      if (!features.taints && device.contains("taints")) continue;
      if (!features.counters && detail::is_alternative(device, taken)) continue;
      if (!features.counters) device.erase("consumesCounters");
      devices.push_back(std::move(device));
    }
    if (spec.contains("devices")) spec["devices"] = std::move(devices);
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace dra
