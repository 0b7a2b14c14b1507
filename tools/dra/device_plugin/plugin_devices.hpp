// Selects the devices that the device plugin offers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "../../gpu/claims/claims.hpp"
#include "../../gpu/claims/found_device.hpp"
#include "../../gpu/model/profile.hpp"
#include "../../gpu/slices/device_names.hpp"
#include "../../gpu/vendors/detect.hpp"
#include "../claims/given_device.hpp"

namespace dra {

/// A device as the kubelet knows it.
struct PluginDevice {
  std::string fault{};  // empty if it is healthy
  std::optional<int> numa_node{};

  friend bool operator==(const PluginDevice&, const PluginDevice&) = default;
};

/// Devices by their names.
using PluginDevices = std::map<std::string, PluginDevice>;

/// Whether a resource includes a device. Only whole GPUs that are not passed through, because pods
/// cannot choose among the devices of a resource. A resource with the name of a kind, such as
/// nvidia.com/gpu, includes only that kind.
inline bool is_offered(const prepare::FoundDevice& device, std::string_view resource) {
  const std::string_view kind = device.whole.inventory->kind;
  if (!device.share.suffix.empty() || device.by_iommufd || kind == "vfio.local/gpu") return false;
  const bool names_a_kind = std::find(std::begin(prepare::own_kinds), std::end(prepare::own_kinds),
                                      resource) != std::end(prepare::own_kinds);
  return !names_a_kind || kind == resource;
}

/// The claim that keeps a device from pods of the device plugin; empty if there is none.
inline std::string claim_of(const prepare::FoundDevice& device, const prepare::Claims& claims,
                            const std::string& driver) {
  for (const auto& [uid, claim] : claims.all()) {
    if (is_given(claim, driver)) continue;
    for (const auto& its : claim.devices) {
      const auto gpu = prepare::gpu_of(its);
      const auto* const found = prepare::find_gpu(claims.survey(), gpu).gpu;
      if (!its.admin_access && found != nullptr && prepare::excludes(device, *found, gpu.suffix)) {
        return uid;
      }
    }
  }
  return {};
}

/// The devices of a resource, for the uses in `profiles`.
inline PluginDevices plugin_devices(const prepare::Claims& claims, const std::string& resource,
                                    const std::string& driver, prepare::Profiles profiles) {
  PluginDevices out;
  for (const auto& device : prepare::all_devices(claims.survey())) {
    if (!is_offered(device, resource)) continue;
    auto& its = out[prepare::dns_name(device)];
    its.numa_node = device.whole.gpu->numa_node;
    const auto& fault = device.fault();
    const auto not_ready = prepare::reason_not_ready(*device.whole.inventory, profiles);
    const auto claim = claim_of(device, claims, driver);
    if (fault) {
      its.fault = fault->text;
    } else if (not_ready) {
      its.fault = not_ready->text;
    } else if (!claim.empty()) {
      its.fault = "the ResourceClaim " + claim + " has it";
    }
  }
  return out;
}

}  // namespace dra
