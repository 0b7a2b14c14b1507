// The GPUs and partitions in a survey, under the names used in claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CLAIMS_FOUND_DEVICE_HPP
#define CDI_TOOLS_GPU_CLAIMS_FOUND_DEVICE_HPP

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/profile.hpp"
#include "../vendors/survey.hpp"
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
  std::string name() const {
    return whole.gpu->stable_name() + share.suffix + (by_iommufd ? "-iommufd" : "");
  }

  /// The type of a partition: the mode of its GPU, "CPX/NPS4", or the size of a MIG instance,
  /// "1g.10gb". Empty if unknown, and for a whole GPU.
  std::string division() const {
    if (share.suffix.empty()) return {};
    return whole.gpu->mode == "MIG" ? share.size : whole.gpu->mode;
  }

  /// Why the device cannot be handed out.
  const std::optional<Problem>& fault() const {
    return whole.inventory->not_ready ? whole.inventory->not_ready : share.left_out;
  }
};

inline std::vector<FoundGpu> all_gpus(const Survey& survey) {
  std::vector<FoundGpu> out;
  for (const auto& found : survey.inventories) {
    for (const auto& gpu : found.gpus) out.push_back({&found, &gpu});
  }
  return out;
}

/// The devices of a GPU that a claim can request.
inline std::vector<FoundDevice> devices_of(const FoundGpu& whole) {
  std::vector<FoundDevice> out;
  for (const auto& share : whole.gpu->shares()) out.push_back({whole, share});
  if (whole.gpu->iommufd_nodes.empty()) return out;
  const Share share{.nodes = whole.gpu->iommufd_nodes, .left_out = whole.gpu->whole.left_out};
  out.push_back({whole, share, true});
  return out;
}

/// Whether a device has this name in the spec of its kind.
inline bool has_name(const FoundDevice& device, std::string_view name) {
  if (name == device.name()) return true;
  if (device.by_iommufd) return false;
  const auto names = device.whole.gpu->other_names(device.share);
  return std::find(names.begin(), names.end(), name) != names.end();
}

inline cdi::Error device_error(std::string_view name, std::string_view reason,
                               cdi::Errc code = cdi::Errc::not_found) {
  return {.code = code, .message = fmt::format("device {}: {}", name, reason)};
}

/// The partition names of the partitioned GPU with this name.
inline std::vector<std::string> parts_of(const Survey& survey, std::string_view name) {
  std::vector<std::string> out;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->partitions.empty() || !has_name({whole, {}, false}, name)) continue;
    for (const auto& part : whole.gpu->partitions) out.push_back(std::string{name} + part.suffix);
  }
  return out;
}

/// A device name, with or without the kind.
struct RequestedName {
  std::string kind{};  // empty if absent
  std::string device{};

  explicit RequestedName(const std::string& text) : device{text} {
    const auto qualified = cdi::parse_name(text);
    if (!qualified) return;
    kind = text.substr(0, text.find('='));
    device = qualified->device;
  }

  bool is_of(const Inventory& inventory) const { return kind.empty() || kind == inventory.kind; }
};

/// All devices with a name, even if they cannot be handed out; "all" excludes iommufd devices.
inline std::vector<FoundDevice> named_devices(const Survey& survey, const RequestedName& name) {
  const bool all = name.device == "all";
  std::vector<FoundDevice> out;
  for (const auto& whole : all_gpus(survey)) {
    if (!name.is_of(*whole.inventory)) continue;
    for (auto& device : devices_of(whole)) {
      if (all ? !device.by_iommufd : has_name(device, name.device))
        out.push_back(std::move(device));
    }
  }
  return out;
}

/// The usable devices with a name: one device, or for "all" every device of the kind.
inline cdi::Result<std::vector<FoundDevice>> find_devices(const Survey& survey,
                                                          const std::string& text) {
  const RequestedName name{text};
  const bool all = name.device == "all";
  std::vector<FoundDevice> out;
  std::set<std::string_view> kinds;
  std::optional<Problem> fault;
  for (auto& device : named_devices(survey, name)) {
    if (!fault) fault = device.fault();
    if (device.fault()) continue;
    if (!kinds.insert(device.whole.inventory->kind).second && !all) continue;  // the first one wins
    out.push_back(std::move(device));
  }
  if (kinds.size() == 1) return out;
  if (!kinds.empty()) {
    return device_error(text,
                        fmt::format("GPUs of {} have that name: prefix it with the kind and =",
                                    fmt::join(kinds, " and ")));
  }
  if (fault) return device_error(text, fault->text);
  if (const auto parts = parts_of(survey, name.device); !parts.empty()) {
    return device_error(text,
                        fmt::format("it is partitioned: request {}", fmt::join(parts, " or ")));
  }
  if (const auto reason = unreadable_functions(survey)) {
    return device_error(text, *reason, cdi::Errc::host);
  }
  return device_error(text, "no device on this host has that name: see " +
                                command_with(survey.tree, "detect", survey.place));
}

/// Whether a GPU with a passing fault may later have a device with this name: its id is unknown, or
/// the name belongs to one of its parts.
inline bool may_get(const Gpu& gpu, const std::string& name) {
  const auto is_part_of = [&](const std::string& whole) {
    return name.size() > whole.size() && name.starts_with(whole) &&
           std::string_view{":-"}.find(name[whole.size()]) != std::string_view::npos;
  };
  const auto names = gpu.other_names({});
  return gpu.id.empty() || is_part_of(gpu.stable_name()) ||
         std::any_of(names.begin(), names.end(), is_part_of);
}

/// Whether a device with this name may be usable for some profiles later, because the reason why
/// there is none now is temporary.
inline bool may_become_ready(const Survey& survey, const std::string& text, Profiles profiles) {
  const RequestedName name{text};
  const auto devices = named_devices(survey, name);
  const auto is_early = [&](const FoundDevice& device) {
    if (device.fault()) return !device.fault()->is_lasting();
    return reason_not_ready(*device.whole.inventory, profiles).has_value();
  };
  if (!devices.empty()) return std::any_of(devices.begin(), devices.end(), is_early);
  const auto gpus = all_gpus(survey);
  return std::any_of(gpus.begin(), gpus.end(), [&](const FoundGpu& found) {
    return name.is_of(*found.inventory) && has_passing_fault(*found.gpu) &&
           may_get(*found.gpu, name.device);
  });
}

/// Whether a GPU at the address of a claimed GPU is certainly another GPU.
inline bool is_another(const Gpu& gpu, const ClaimedGpu& claimed) {
  const bool ids_known = !gpu.id.empty() && !claimed.id.empty();
  return gpu.pci_id != claimed.pci_id || (ids_known && gpu.id != claimed.id);
}

/// The GPU at the PCI address of a claimed GPU; null if there is none.
inline FoundGpu gpu_at_place_of(const Survey& survey, const ClaimedGpu& claimed) {
  for (const auto& found : all_gpus(survey)) {
    const auto& address = found.gpu->pci_address;
    if (!address.empty() && address == claimed.pci_address) return found;
  }
  return {};
}

/// The GPU of a claim, in any state and at any address; null if it is gone. Looks for its id, or
/// for its PCI address if the id is unknown.
inline FoundGpu find_gpu(const Survey& survey, const ClaimedGpu& claimed) {
  for (const auto& found : all_gpus(survey)) {
    if (claimed.id.empty() || found.gpu->id != claimed.id) continue;
    if (found.inventory->kind == claimed.kind) return found;
  }
  const auto there = gpu_at_place_of(survey, claimed);
  return there.gpu != nullptr && is_another(*there.gpu, claimed) ? FoundGpu{} : there;
}

/// Whether two divisions may be the same: a division, or the memory mode after its slash, may be
/// unknown.
inline bool may_be_equal(std::string_view a, std::string_view b) {
  const auto is_known_part = [](std::string_view part, std::string_view of) {
    return of.starts_with(part) &&
           (part.empty() || part.size() == of.size() || of[part.size()] == '/');
  };
  return is_known_part(a, b) || is_known_part(b, a);
}

/// The device of a claim in its current state. `Errc::conflict` if another GPU is at its address,
/// because the claim's spec could then give access to that GPU.
inline cdi::Result<FoundDevice> find_again(const Survey& survey, const ClaimedGpu& claimed) {
  const auto failure = [&](std::string_view reason, std::string_view advice,
                           cdi::Errc code = cdi::Errc::not_found) {
    return device_error(claimed.name, fmt::format("{}: {}, or unprepare the claim", reason, advice),
                        code);
  };
  constexpr std::string_view put_back = "put the device back";
  constexpr std::string_view restore = "restore the partitions";
  const auto whole = find_gpu(survey, claimed);
  if (whole.gpu == nullptr) {
    const auto other = gpu_at_place_of(survey, claimed);
    if (other.gpu == nullptr && !survey.complete) {
      return device_error(claimed.name, "not all devices of this host can be listed now");
    }
    if (other.gpu == nullptr) return failure("it is gone from this host", put_back);
    return failure(
        fmt::format("it is gone from this host, and the {} at {} is now {} ({})", other.gpu->noun,
                    claimed.pci_address, other.gpu->stable_name(), other.gpu->pci_id),
        put_back, cdi::Errc::conflict);
  }
  const auto& [inventory, gpu] = whole;
  if (inventory->kind != claimed.kind) {
    return failure(fmt::format("its {} now has the driver {}, and is {}={}", gpu->noun, gpu->driver,
                               inventory->kind, gpu->stable_name()),
                   "bind it to its former driver");
  }
  if (gpu->whole.left_out) return device_error(claimed.name, gpu->whole.left_out->text);
  for (auto& device : devices_of(whole)) {
    if (device.share.suffix != claimed.suffix || device.by_iommufd != claimed.by_iommufd) continue;
    if (const auto& fault = device.fault()) return device_error(claimed.name, fault->text);
    const auto division = device.division();
    if (may_be_equal(division, claimed.division)) return std::move(device);
    return failure(fmt::format("its GPU is now partitioned differently: it is {}, not {}", division,
                               claimed.division),
                   restore);
  }
  if (claimed.by_iommufd) return failure("iommufd has no node for its GPU now", "enable iommufd");
  return failure("its GPU is now partitioned differently", restore);
}

/// Whether a device and a part of a GPU overlap: they are equal, or one is the whole GPU.
inline bool is_same_part(const FoundDevice& device, const Gpu& gpu, std::string_view suffix) {
  const auto& own = device.share.suffix;
  return device.whole.gpu == &gpu && (own == suffix || own.empty() || suffix.empty());
}

/// Whether one of two GPUs is a virtual function of the other, or both are passed through in the
/// same IOMMU group.
inline bool are_bound_together(const Gpu& a, const Gpu& b) {
  const auto is_part = [](const Gpu& part, const Gpu& whole) {
    return !part.physical_function.empty() && part.physical_function == whole.pci_address;
  };
  const auto is_passed_through = [](const Gpu& gpu) {
    return gpu.driver.find("vfio") != std::string::npos;
  };
  const bool same_group = !a.iommu_group.empty() && a.iommu_group == b.iommu_group;
  return is_part(a, b) || is_part(b, a) ||
         (same_group && is_passed_through(a) && is_passed_through(b));
}

/// Whether a device cannot be assigned while another claim has a part of a GPU.
inline bool excludes(const FoundDevice& device, const Gpu& gpu, std::string_view suffix) {
  if (device.whole.gpu == &gpu) return is_same_part(device, gpu, suffix);
  return are_bound_together(*device.whole.gpu, gpu);
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_CLAIMS_FOUND_DEVICE_HPP
