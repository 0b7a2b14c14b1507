// ResourceSlices in the versions of the Kubernetes API.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string_view>
#include <utility>

#include "api_error.hpp"

// v1 of Kubernetes 1.34 and v1beta2 of 1.33 are equal. In v1beta1 of 1.32, the members of a device
// other than its name are in `basic`.

namespace dra {

/// The versions of resource.k8s.io with the objects of a driver, newest first.
inline constexpr std::string_view resource_api_versions[] = {"v1", "v1beta2", "v1beta1"};

/// Converts the spec of a slice from v1 to another version.
inline ApiJson spec_to_version(ApiJson spec, std::string_view version) {
  if (version != "v1beta1" || !spec.contains("devices")) return spec;
  for (auto& device : spec["devices"]) {
    auto basic = std::move(device);
    ApiJson named{{"name", basic["name"]}};
    basic.erase("name");
    named["basic"] = std::move(basic);
    device = std::move(named);
  }
  return spec;
}

/// Converts the spec of a slice from any version to v1. What is not of the expected form stays.
inline ApiJson spec_to_v1(ApiJson spec) {
  const auto found = spec.is_object() ? spec.find("devices") : spec.end();
  if (found == spec.end() || !found->is_array()) return spec;
  for (auto& device : *found) {
    if (!device.is_object() || !device.contains("basic")) continue;
    auto basic = std::move(device["basic"]);
    device.erase("basic");
    if (basic.is_object()) device.update(basic);
  }
  return spec;
}

}  // namespace dra
