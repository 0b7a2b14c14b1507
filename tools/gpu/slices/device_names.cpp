// The names of devices in Kubernetes: DNS labels.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "device_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../model/gpu.hpp"
#include "../vendors/detect.hpp"

namespace prepare {

namespace {

/// The longest DNS label.
constexpr std::size_t max_label_size = 63;

/// Whether names with these letters stay different as labels. The names of the detected kinds have
/// ":" and "." only in PCI addresses and before partitions.
bool has_plain_letters(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.back() != '-' &&
         name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:.-") ==
             std::string_view::npos;
}

/// The names of the parts of the GPU that had this name before it was partitioned.
std::vector<std::string> parts_named(const Survey& survey, std::string_view name) {
  std::vector<std::string> out;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->partitions.empty() || dns_name({whole, {}, false}) != name) continue;
    for (const auto& device : devices_of(whole)) out.push_back(dns_name(device));
  }
  return out;
}

}  // namespace

std::string dns_label(std::string_view kind, std::string_view name) {
  const auto slash = kind.find('/');
  const auto vendor = kind.substr(0, std::min(slash, kind.find('.')));
  const auto begin = fmt::format("{}-{}-", detail::label_letters(vendor),
                                 detail::label_letters(kind.substr(slash + 1)));
  auto own = name;
  if (own.starts_with("GPU-")) own.remove_prefix(4);
  auto label = begin + detail::label_letters(own);
  const bool is_own =
      std::find(std::begin(own_kinds), std::end(own_kinds), kind) != std::end(own_kinds);
  if (is_own && has_plain_letters(own) && label.size() <= max_label_size) return label;
  const auto hash = detail::short_hash(fmt::format("{}={}", kind, name));
  if (label.size() + 1 + hash.size() > max_label_size) {
    label = detail::label_letters(label.substr(0, max_label_size - 1 - hash.size()));
  }
  return detail::label_letters(fmt::format("{}-{}", label, hash));
}

std::string dns_name(const FoundDevice& device) {
  return dns_label(device.whole.inventory->kind, device.name());
}

std::string cdi_name(const FoundDevice& device) {
  return fmt::format("{}={}", device.whole.inventory->kind, device.name());
}

std::vector<FoundDevice> all_devices(const Survey& survey) {
  std::vector<FoundDevice> out;
  for (const auto& whole : all_gpus(survey)) {
    if (whole.gpu->stable_name().empty()) continue;  // a vendor file is wrong about it
    for (auto& device : devices_of(whole)) out.push_back(std::move(device));
  }
  return out;
}

std::vector<std::string> dns_names(const FoundDevice& device) {
  std::vector<std::string> out{dns_name(device)};
  const auto& address = device.whole.gpu->pci_address;
  if (address.empty() || device.whole.gpu->id.empty()) return out;
  const auto* const end = device.by_iommufd ? "-iommufd" : "";
  out.push_back(dns_label(device.whole.inventory->kind,
                          fmt::format("{}{}{}", address, device.share.suffix, end)));
  return out;
}

std::optional<FoundDevice> device_named(const Survey& survey, std::string_view name) {
  std::optional<FoundDevice> earlier;
  for (auto& device : all_devices(survey)) {
    const auto names = dns_names(device);
    if (names.front() == name) return std::move(device);
    if (!earlier && names.back() == name) earlier = std::move(device);
  }
  return earlier;
}

cdi::Result<FoundDevice> find_by_dns_name(const Survey& survey, const std::string& name) {
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

namespace prepare::detail {

std::string label_letters(std::string_view text) {
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

std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:012x}", (hash ^ (hash >> 48)) & 0xffffffffffffU);
}

}  // namespace prepare::detail
