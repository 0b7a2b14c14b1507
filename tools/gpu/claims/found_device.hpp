// The GPUs and partitions in a survey, under the names used in claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/profile.hpp"
#include "../survey/survey.hpp"
#include "claim.hpp"

namespace prepare {

/// A GPU in a survey, which must outlive this object.
struct FoundGpu {
  const Inventory* inventory = nullptr;
  const Gpu* gpu = nullptr;
};

/// A GPU or partition that a claim can request.
struct FoundDevice {
  FoundGpu whole{};
  Share share{};
  bool by_iommufd = false;

  /// The stable name.
  std::string name() const;

  /// The type of a partition: the mode of its GPU, "CPX/NPS4", or the size of a MIG instance,
  /// "1g.10gb". Empty if unknown, and for a whole GPU.
  std::string division() const;

  /// Why the device cannot be handed out.
  const std::optional<Problem>& fault() const;
};

std::vector<FoundGpu> all_gpus(const Survey& survey);

/// The devices of a GPU that a claim can request.
std::vector<FoundDevice> devices_of(const FoundGpu& whole);

/// Whether a device has this name in the spec of its kind.
bool has_name(const FoundDevice& device, std::string_view name);

cdi::Error device_error(std::string_view name, std::string_view reason,
                        cdi::Errc code = cdi::Errc::not_found);

/// The usable devices with a name: one device, or for "all" every device of the kind.
cdi::Result<std::vector<FoundDevice>> find_devices(const Survey& survey, const std::string& text);

/// Whether a device with this name may be usable for some profiles later, because the reason why
/// there is none now is temporary.
bool may_become_ready(const Survey& survey, const std::string& text, Profiles profiles);

/// The GPU of a claim, in any state and at any address; null if it is gone. Looks for its id, or
/// for its PCI address if the id is unknown.
FoundGpu find_gpu(const Survey& survey, const ClaimedGpu& claimed);

/// Whether two divisions may be the same: a division, or the memory mode after its slash, may be
/// unknown.
bool may_be_equal(std::string_view a, std::string_view b);

/// The device of a claim in its current state. `Errc::conflict` if another GPU is at its address,
/// because the claim's spec could then give access to that GPU.
cdi::Result<FoundDevice> find_again(const Survey& survey, const ClaimedGpu& claimed);

/// Whether one of two GPUs is a virtual function of the other, or both are passed through in the
/// same IOMMU group.
bool are_bound_together(const Gpu& a, const Gpu& b);

/// Whether a device cannot be assigned while another claim has a part of a GPU.
bool excludes(const FoundDevice& device, const Gpu& gpu, std::string_view suffix);

}  // namespace prepare
