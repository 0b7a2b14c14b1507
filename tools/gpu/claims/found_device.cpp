// The GPUs and partitions in a survey, under the names used in claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "found_device.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../kit/cdi_specs/write_command.hpp"

namespace prepare {

namespace {

/// The partition names of the partitioned GPU with this name.
std::vector<std::string> parts_of(const Survey& survey, std::string_view name) {
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
std::vector<FoundDevice> named_devices(const Survey& survey, const RequestedName& name) {
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

/// Whether a GPU with a passing fault may later have a device with this name: its id is unknown, or
/// the name belongs to one of its parts.
bool may_get(const Gpu& gpu, const std::string& name) {
  const auto is_part_of = [&](const std::string& whole) {
    return name.size() > whole.size() && name.starts_with(whole) &&
           std::string_view{":-"}.find(name[whole.size()]) != std::string_view::npos;
  };
  const auto names = gpu.other_names({});
  return gpu.id.empty() || is_part_of(gpu.stable_name()) ||
         std::any_of(names.begin(), names.end(), is_part_of);
}

/// Whether a GPU at the address of a claimed GPU is certainly another GPU.
bool is_another(const Gpu& gpu, const ClaimedGpu& claimed) {
  const bool ids_known = !gpu.id.empty() && !claimed.id.empty();
  return gpu.pci_id != claimed.pci_id || (ids_known && gpu.id != claimed.id);
}

/// The GPU at the PCI address of a claimed GPU; null if there is none.
FoundGpu gpu_at_place_of(const Survey& survey, const ClaimedGpu& claimed) {
  for (const auto& found : all_gpus(survey)) {
    const auto& address = found.gpu->pci_address;
    if (!address.empty() && address == claimed.pci_address) return found;
  }
  return {};
}

/// Whether a device and a part of a GPU overlap: they are equal, or one is the whole GPU.
bool is_same_part(const FoundDevice& device, const Gpu& gpu, std::string_view suffix) {
  const auto& own = device.share.suffix;
  return device.whole.gpu == &gpu && (own == suffix || own.empty() || suffix.empty());
}

}  // namespace

std::string FoundDevice::name() const {
  return whole.gpu->stable_name() + share.suffix + (by_iommufd ? "-iommufd" : "");
}

std::string FoundDevice::division() const {
  if (share.suffix.empty()) return {};
  return whole.gpu->mode == "MIG" ? share.size : whole.gpu->mode;
}

const std::optional<Problem>& FoundDevice::fault() const {
  return whole.inventory->not_ready ? whole.inventory->not_ready : share.left_out;
}

std::vector<FoundGpu> all_gpus(const Survey& survey) {
  std::vector<FoundGpu> out;
  for (const auto& found : survey.inventories) {
    for (const auto& gpu : found.gpus) out.push_back({&found, &gpu});
  }
  return out;
}

std::vector<FoundDevice> devices_of(const FoundGpu& whole) {
  std::vector<FoundDevice> out;
  for (const auto& share : whole.gpu->shares()) out.push_back({whole, share});
  if (whole.gpu->iommufd_nodes.empty()) return out;
  const Share share{.nodes = whole.gpu->iommufd_nodes, .left_out = whole.gpu->whole.left_out};
  out.push_back({whole, share, true});
  return out;
}

bool has_name(const FoundDevice& device, std::string_view name) {
  if (name == device.name()) return true;
  if (device.by_iommufd) return false;
  const auto names = device.whole.gpu->other_names(device.share);
  return std::find(names.begin(), names.end(), name) != names.end();
}

cdi::Error device_error(std::string_view name, std::string_view reason, cdi::Errc code) {
  return {.code = code, .message = fmt::format("device {}: {}", name, reason)};
}

cdi::Result<std::vector<FoundDevice>> find_devices(const Survey& survey, const std::string& text) {
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

bool may_become_ready(const Survey& survey, const std::string& text, Profiles profiles) {
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

FoundGpu find_gpu(const Survey& survey, const ClaimedGpu& claimed) {
  for (const auto& found : all_gpus(survey)) {
    if (claimed.id.empty() || found.gpu->id != claimed.id) continue;
    if (found.inventory->kind == claimed.kind) return found;
  }
  const auto there = gpu_at_place_of(survey, claimed);
  return there.gpu != nullptr && is_another(*there.gpu, claimed) ? FoundGpu{} : there;
}

bool may_be_equal(std::string_view a, std::string_view b) {
  const auto is_known_part = [](std::string_view part, std::string_view of) {
    return of.starts_with(part) &&
           (part.empty() || part.size() == of.size() || of[part.size()] == '/');
  };
  return is_known_part(a, b) || is_known_part(b, a);
}

cdi::Result<FoundDevice> find_again(const Survey& survey, const ClaimedGpu& claimed) {
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

bool are_bound_together(const Gpu& a, const Gpu& b) {
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

bool excludes(const FoundDevice& device, const Gpu& gpu, std::string_view suffix) {
  if (device.whole.gpu == &gpu) return is_same_part(device, gpu, suffix);
  return are_bound_together(*device.whole.gpu, gpu);
}

}  // namespace prepare
