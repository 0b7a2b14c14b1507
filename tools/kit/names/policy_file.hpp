// The check of requested devices by a policy file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <span>
#include <string>
#include <vector>

#include <cdi/policy.hpp>
#include <cdi/requests.hpp>

#include "../host/trusted_file.hpp"

namespace tools {

/// The policy in a file, which no other user may write.
inline cdi::Result<cdi::Policy> read_policy_file(const std::string& path,
                                                 const cdi::Limits& limits = {}) {
  const auto text = read_trusted_file(path, limits.bytes);
  if (!text) return text.error();
  return cdi::read_policy(*text, path, limits);
}

/// Fails if the policy in a file denies a device, or cannot be read. It is read at each call, so
/// that changes take effect at once.
inline cdi::Result<void> check_policy(const std::string& path,
                                      std::span<const cdi::ResolvedDevice> devices,
                                      const std::vector<cdi::RequestedDevice>& requested) {
  const auto policy = read_policy_file(path);
  if (!policy) return policy.error();
  return cdi::require_allowed(cdi::decide(*policy, devices, requested));
}

}  // namespace tools
