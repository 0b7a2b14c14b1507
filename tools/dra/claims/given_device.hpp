// Devices that pods have by the device plugin: a claim for each.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_GIVEN_DEVICE_HPP
#define CDI_TOOLS_DRA_CLAIMS_GIVEN_DEVICE_HPP

#include <cstddef>
#include <string>

#include "../../gpu/claims/claim.hpp"
#include "../../gpu/slices/device_names.hpp"

// The kubelet names devices, and no pod. It gives a device of an init container to another
// container of the pod, so a device has the same CDI name in all of them: hence a claim for each
// device.

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

/// Whether a claim is for a device that the device plugin gave. Its name is that of the device.
inline bool is_given(const prepare::Claim& claim, const std::string& driver) {
  return claim.kind == plugin_kind(driver);
}

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIMS_GIVEN_DEVICE_HPP
