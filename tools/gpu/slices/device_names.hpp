// The names of devices in Kubernetes: DNS labels.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_SLICES_DEVICE_NAMES_HPP
#define CDI_TOOLS_GPU_SLICES_DEVICE_NAMES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/result.hpp>

#include "../claims/found_device.hpp"
#include "../model/gpu.hpp"
#include "../vendors/detect.hpp"
#include "../vendors/survey.hpp"

// A name depends only on the kind and the stable name of its device. It stays valid over restarts
// and reboots, whatever other devices come and go.

namespace prepare {

/// The longest DNS label.
inline constexpr std::size_t max_label_size = 63;

namespace detail {

/// A text in the letters of a DNS label: other characters become "-", except at the end.
inline std::string label_letters(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_other = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_upper || is_other) {
      out += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!out.empty()) {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

/// Whether names with these letters stay different as labels. The names of the detected kinds have
/// ":" and "." only in PCI addresses and before partitions.
inline bool has_plain_letters(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.back() != '-' &&
         name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:.-") ==
             std::string_view::npos;
}

/// 12 hexadecimal digits of a text's FNV-1a hash.
inline std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:012x}", (hash ^ (hash >> 48)) & 0xffffffffffffU);
}

}  // namespace detail

/// The DNS label of a device name: "nvidia-gpu-18db0e85-...-gi1-ci0". Names of vendor files, and
/// names that lose letters, end with a hash.
inline std::string dns_label(std::string_view kind, std::string_view name) {
  const auto slash = kind.find('/');
  const auto vendor = kind.substr(0, std::min(slash, kind.find('.')));
  const auto begin = fmt::format("{}-{}-", detail::label_letters(vendor),
                                 detail::label_letters(kind.substr(slash + 1)));
  auto own = name;
  if (own.starts_with("GPU-")) own.remove_prefix(4);
  auto label = begin + detail::label_letters(own);
  const bool is_own =
      std::find(std::begin(own_kinds), std::end(own_kinds), kind) != std::end(own_kinds);
  if (is_own && detail::has_plain_letters(own) && label.size() <= max_label_size) return label;
  const auto hash = detail::short_hash(fmt::format("{}={}", kind, name));
  if (label.size() + 1 + hash.size() > max_label_size) {
    label = detail::label_letters(label.substr(0, max_label_size - 1 - hash.size()));
  }
  return detail::label_letters(fmt::format("{}-{}", label, hash));
}

/// The name of a device in ResourceSlices and claims.
inline std::string dns_name(const FoundDevice& device) {
  return dns_label(device.whole.inventory->kind, device.name());
}

/// The name of a device in CDI specs: "nvidia.com/gpu=GPU-18db0e85-...".
inline std::string cdi_name(const FoundDevice& device) {
  return fmt::format("{}={}", device.whole.inventory->kind, device.name());
}

/// The named devices of a survey, including those that cannot be handed out now.
inline std::vector<FoundDevice> all_devices(const Survey& survey) {
  std::vector<FoundDevice> out;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->stable_name().empty()) continue;  // a vendor file is wrong about it
    for (auto& device : devices_of(whole)) out.push_back(std::move(device));
  }
  return out;
}

/// The names that a device has, or had before its driver knew its id.
inline std::vector<std::string> dns_names(const FoundDevice& device) {
  std::vector<std::string> out{dns_name(device)};
  const auto& address = device.whole.gpu->pci_address;
  if (address.empty() || device.whole.gpu->id.empty()) return out;
  const auto* const end = device.by_iommufd ? "-iommufd" : "";
  out.push_back(dns_label(device.whole.inventory->kind,
                          fmt::format("{}{}{}", address, device.share.suffix, end)));
  return out;
}

/// The device with a name, even if it cannot be handed out; nullopt if there is none. Current names
/// have priority over names from before the driver knew an id.
inline std::optional<FoundDevice> device_named(const Survey& survey, std::string_view name) {
  std::optional<FoundDevice> earlier;
  for (auto& device : all_devices(survey)) {
    const auto names = dns_names(device);
    if (names.front() == name) return std::move(device);
    if (!earlier && names.back() == name) earlier = std::move(device);
  }
  return earlier;
}

/// The names of the parts of the GPU that had this name before it was partitioned.
inline std::vector<std::string> parts_named(const Survey& survey, std::string_view name) {
  std::vector<std::string> out;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->partitions.empty() || dns_name({whole, {}, false}) != name) continue;
    for (const auto& device : devices_of(whole)) out.push_back(dns_name(device));
  }
  return out;
}

/// The usable device with a name in Kubernetes. `Errc::not_found` with the reason if there is none.
inline cdi::Result<FoundDevice> find_by_dns_name(const Survey& survey, const std::string& name) {
  auto found = device_named(survey, name);
  if (found && !found->fault()) return std::move(*found);
  if (found) return device_error(name, found->fault()->text);
  if (const auto parts = parts_named(survey, name); !parts.empty()) {
    return device_error(
        name, fmt::format("its GPU is now partitioned: request {}", fmt::join(parts, " or ")));
  }
  if (const auto reason = unreadable_functions(survey)) {
    return device_error(name, *reason, cdi::Errc::host);
  }
  return device_error(name, "no device on this host has that name: see " +
                                command_with(survey.tree, "slices", survey.place));
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_SLICES_DEVICE_NAMES_HPP
