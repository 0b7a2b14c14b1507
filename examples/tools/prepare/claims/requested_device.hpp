// A device that a claim requests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_REQUESTED_DEVICE_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_REQUESTED_DEVICE_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "claim.hpp"
#include "found_device.hpp"

namespace prepare {

/// A device that a claim requests.
struct RequestedDevice {
  std::string request{};  // of the claim; empty for all requests
  std::string name{};     // from the caller
  FoundDevice device{};

  /// For messages: "1 (GPU-5f2a...)"
  std::string text() const {
    const auto first = device.name();
    return first == name ? name : fmt::format("{} ({})", name, first);
  }
};

/// The record of a device in its claim.
inline ClaimedDevice to_claimed(const RequestedDevice& requested) {
  const auto& [whole, share, by_iommufd] = requested.device;
  return {.request = requested.request,
          .requested = requested.name,
          .kind = whole.inventory->kind,
          .name = requested.device.name(),
          .id = whole.gpu->id,
          .suffix = share.suffix,
          .division = requested.device.division(),
          .pci_address = whole.gpu->pci_address,
          .pci_id = whole.gpu->pci_id,
          .by_iommufd = by_iommufd};
}

/// Records the current address and the known properties of a device.
inline void update(ClaimedDevice& claimed, const FoundDevice& found) {
  const auto& gpu = *found.whole.gpu;
  if (!gpu.id.empty()) claimed.id = gpu.id;
  claimed.pci_address = gpu.pci_address;
  if (claimed.division.empty()) claimed.division = found.division();
}

inline cdi::Error conflict(std::string message) {
  return {.code = cdi::Errc::conflict, .message = std::move(message)};
}

/// Rejects a device that is requested twice.
inline cdi::Result<void> check_distinct(const std::vector<RequestedDevice>& requested) {
  for (std::size_t i = 0; i < requested.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      const auto& other = requested[before].device;
      if (!is_same_part(requested[i].device, *other.whole.gpu, other.share.suffix)) continue;
      return conflict(fmt::format("device {}: requested twice", requested[i].text()));
    }
  }
  return {};
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_REQUESTED_DEVICE_HPP
