// A device that a claim requests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>

#include "claim.hpp"
#include "found_device.hpp"

namespace prepare {

/// A device that a claim requests.
struct RequestedDevice {
  std::string request{};  // of the claim; empty for all requests
  std::string name{};     // from the caller
  FoundDevice device{};
  std::string share_id{};     // as in `cdi::ClaimedDevice`
  bool admin_access = false;  // the same
};

/// The record of a device in its claim.
inline ClaimedDevice to_claimed(const RequestedDevice& requested) {
  const auto& [whole, share, by_iommufd] = requested.device;
  ClaimedDevice out{.request = requested.request,
                    .requested = requested.name,
                    .name = requested.device.name(),
                    .share_id = requested.share_id,
                    .admin_access = requested.admin_access};
  record(out, {.kind = whole.inventory->kind,
               .name = requested.device.name(),
               .id = whole.gpu->id,
               .suffix = share.suffix,
               .division = requested.device.division(),
               .pci_address = whole.gpu->pci_address,
               .pci_id = whole.gpu->pci_id,
               .by_iommufd = by_iommufd});
  return out;
}

/// Records the current address and the known properties of a device.
inline void update(ClaimedDevice& claimed, const FoundDevice& found) {
  const auto& gpu = *found.whole.gpu;
  auto its = gpu_of(claimed);
  if (!gpu.id.empty()) its.id = gpu.id;
  its.pci_address = gpu.pci_address;
  if (its.division.empty()) its.division = found.division();
  record(claimed, its);
}

}  // namespace prepare
