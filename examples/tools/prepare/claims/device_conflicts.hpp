// Conflicts between the devices of a claim and requested devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_DEVICE_CONFLICTS_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_DEVICE_CONFLICTS_HPP

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../vendors/survey.hpp"
#include "claim.hpp"
#include "found_device.hpp"
#include "requested_device.hpp"

namespace prepare {

/// Whether a claim has the requested devices for the same requests, in any order.
inline bool has_devices(const Survey& survey, const Claim& claim,
                        const std::vector<RequestedDevice>& requested) {
  const auto same = [&](const RequestedDevice& one, const ClaimedDevice& its) {
    return one.request == its.request && one.device.whole.gpu == find_gpu(survey, its).gpu &&
           one.device.share.suffix == its.suffix && one.device.by_iommufd == its.by_iommufd;
  };
  return requested.size() == claim.devices.size() &&
         std::all_of(requested.begin(), requested.end(), [&](const RequestedDevice& one) {
           return std::any_of(claim.devices.begin(), claim.devices.end(),
                              [&](const ClaimedDevice& its) { return same(one, its); });
         });
}

/// The devices of a claim, with their requests.
inline std::string devices_text(const Claim& claim) {
  std::string out;
  for (const auto& device : claim.devices) {
    if (!out.empty()) out += ", ";
    out += device.request.empty() ? device.name : device.name + "@" + device.request;
  }
  return out;
}

/// The error for a device that belongs to a claim, or is bound to a device that does.
inline cdi::Error taken(const RequestedDevice& requested, const std::string& uid,
                        const ClaimedDevice& its) {
  const auto reject = [&](std::string_view why) {
    return conflict(fmt::format("{}: unprepare claim {} first", why, uid));
  };
  const auto name = requested.device.name();
  if (name != its.name) {
    return reject(fmt::format("device {} cannot be assigned while claim {} has {}",
                              requested.text(), uid, its.name));
  }
  if (name == requested.name) return reject(fmt::format("claim {} has device {}", uid, name));
  return reject(fmt::format("device {} is {}, which claim {} has", requested.name, name, uid));
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_DEVICE_CONFLICTS_HPP
