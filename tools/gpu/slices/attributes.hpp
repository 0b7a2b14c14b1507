// The attributes of devices, by which claims select devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/kubernetes/resource_slice.hpp"
#include "../claims/found_device.hpp"
#include "../model/gpu.hpp"
#include "limits.hpp"

namespace prepare {

/// The attributes of a device. Leaves out attributes that the API does not allow: one of them would
/// make it refuse the whole slice.
class Attributes {
 public:
  /// Adds a text that has a value, unless the name is used.
  void text(std::string_view name, std::string_view value) {
    if (value.empty() || value.size() > slice_limits::value) return;
    if (!cdi::detail::is_utf8(value)) return;
    add(name, {.text = std::string{value}});
  }

  /// Adds a text, cut off if it is too long.
  void long_text(std::string_view name, std::string_view value) {
    auto end = std::min(value.size(), slice_limits::value);
    while (end < value.size() && end > 0 && (value[end] & 0xc0) == 0x80) --end;
    text(name, value.substr(0, end));
  }

  template <class Number>
  void number(std::string_view name, const std::optional<Number>& value) {
    if (value) add(name, {.number = static_cast<std::int64_t>(*value)});
  }

  void version(std::string_view name, std::string_view value) {
    if (auto read = semantic_version(value)) add(name, {.version = std::move(*read)});
  }

  const kubernetes::SliceAttributes& all() const { return all_; }

 private:
  void add(std::string_view name, kubernetes::SliceAttribute value) {
    // One place is kept for the memory.
    if (all_.size() + 1 < slice_limits::attributes) all_.emplace(name, std::move(value));
  }

  kubernetes::SliceAttributes all_{};
};

/// The PCIe root of a function: "pci0000:16"; empty if it is unknown.
inline std::string pcie_root(const tools::HostTree& tree, const std::string& address) {
  constexpr std::string_view devices = "/sys/devices/";
  const auto place = tree.real_path("/sys/bus/pci/devices/" + address).value_or("");
  if (!place.starts_with(devices)) return {};
  for (auto& part : tools::split(place.substr(devices.size()), "/")) {
    if (part.starts_with("pci")) return std::move(part);
  }
  return {};
}

/// What a device is: "gpu", "mig", "partition", "vfio".
inline std::string_view type_of(const FoundDevice& device) {
  const auto& gpu = *device.whole.gpu;
  if (!device.share.suffix.empty()) return gpu.mode == "MIG" ? "mig" : "partition";
  const auto& kind = device.whole.inventory->kind;
  if (kind == "vfio.local/gpu") return "vfio";
  return std::string_view{kind}.substr(kind.find('/') + 1);
}

namespace detail {

inline void add_names(const FoundDevice& device, Attributes& out) {
  const auto& gpu = *device.whole.gpu;
  const bool is_whole = device.share.suffix.empty();
  out.text("kind", device.whole.inventory->kind);
  out.text("type", type_of(device));
  out.text(is_whole ? "uuid" : "parentUUID", gpu.id);
  for (const auto& alias : device.share.aliases) {
    if (alias.starts_with("MIG-")) out.text("uuid", alias);
  }
  out.number(is_whole ? "index" : "parentIndex", gpu.index);
  out.long_text("productName", gpu.model);
  out.text("vendor", gpu.vendor);
}

inline void add_places(const tools::HostTree& tree, const Gpu& gpu, Attributes& out) {
  if (!gpu.pci_address.empty()) {
    out.text("resource.kubernetes.io/pciBusID", gpu.pci_address);
    out.text("resource.kubernetes.io/pcieRoot", pcie_root(tree, gpu.pci_address));
  }
  out.number("resource.kubernetes.io/numaNode", gpu.numa_node);
  out.text("pciDeviceID", gpu.pci_id);
  out.text("physicalFunction", gpu.physical_function);
  out.number("iommuGroup", tools::parse_number<std::uint32_t>(gpu.iommu_group));
}

}  // namespace detail

/// The attributes of a device.
inline kubernetes::SliceAttributes attributes_of(const tools::HostTree& tree,
                                                 const FoundDevice& device) {
  const auto& gpu = *device.whole.gpu;
  Attributes out;
  detail::add_names(device, out);
  detail::add_places(tree, gpu, out);
  out.text("driver", gpu.driver);
  out.version("driverVersion", device.whole.inventory->driver_version);
  out.text("mode", gpu.mode);
  out.text("profile", device.division());
  if (type_of(device) == "vfio") out.text("interface", device.by_iommufd ? "iommufd" : "group");
  for (const auto& [name, value] : gpu.attributes) {
    if (is_attribute_name(name)) out.text(name, value);
  }
  return out.all();
}

/// The memory of a device in bytes, where its driver reports it without a library; nullopt
/// elsewhere, and for a part of a GPU.
inline std::optional<std::uint64_t> memory_of(const tools::HostTree& tree,
                                              const FoundDevice& device) {
  const auto& gpu = *device.whole.gpu;
  if (gpu.pci_address.empty() || !device.share.suffix.empty()) return std::nullopt;
  const auto bytes = tools::parse_number<std::uint64_t>(
      tree.line(fmt::format("/sys/bus/pci/devices/{}/mem_info_vram_total", gpu.pci_address)));
  return bytes && *bytes != 0 ? bytes : std::nullopt;
}

}  // namespace prepare
