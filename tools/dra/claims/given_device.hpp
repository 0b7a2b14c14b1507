// Claims for devices that pods get from the device plugin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>

#include "../../gpu/claims/claim.hpp"
#include "../../gpu/slices/device_names.hpp"

// The kubelet names devices, but not pods. It gives an init container's device to another container
// of the pod, so the device must have the same CDI name in both. Therefore, each device has a claim
// of its own.

namespace dra {

/// The UID of the claim for a device, by its name in Kubernetes, whose end may become a hash.
inline std::string plugin_uid(const std::string& device) {
  constexpr std::size_t longest = 56;  // see `cdi::is_claim_uid`
  if (device.size() <= longest) return device;
  const auto hash = prepare::detail::short_hash(device);
  return prepare::detail::label_letters(device.substr(0, longest - 1 - hash.size())) + "-" + hash;
}

/// The kind of the CDI devices in such claims.
inline std::string plugin_kind(const std::string& driver) {
  return driver + "/plugin";
}

/// Whether a claim is for a device of the device plugin. The claim is named after the device.
inline bool is_given(const prepare::Claim& claim, const std::string& driver) {
  return claim.kind == plugin_kind(driver);
}

}  // namespace dra
