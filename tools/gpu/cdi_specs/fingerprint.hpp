// Records in a spec for which host and options it was written, as annotations.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/minimum_version.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/spec.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../model/gpu.hpp"
#include "../model/profile.hpp"

// `check` and `doctor` compare them with the host.

namespace prepare {

inline constexpr std::string_view driver_annotation = "cdi-prepare/driver-version";
inline constexpr std::string_view boot_annotation = "cdi-prepare/boot-id";
inline constexpr std::string_view gpus_annotation = "cdi-prepare/gpus";
static_assert(cdi::is_annotation_key(driver_annotation) &&
              cdi::is_annotation_key(boot_annotation) && cdi::is_annotation_key(gpus_annotation) &&
              cdi::is_annotation_key(tools::options_annotation));

/// The host's current boot id; empty if the kernel does not report it.
inline std::string boot_id(const tools::HostTree& tree) {
  return tree.line("/proc/sys/kernel/random/boot_id");
}

/// The GPUs of a kind as text, each with its id and PCI address.
inline std::string gpu_places(const Inventory& found) {
  std::string out;
  for (const auto& gpu : found.gpus) {
    if (!out.empty()) out += ", ";
    out += gpu.stable_name();
    if (!gpu.id.empty() && !gpu.pci_address.empty()) out += " at " + gpu.pci_address;
  }
  return out;
}

/// The GPUs of a recorded text that are gone, if nothing else has changed; nullopt otherwise.
inline std::optional<std::string> gone_places(std::string_view recorded, std::string_view now) {
  const auto places = [](std::string_view text) {
    auto parts = tools::split(text, ",");
    for (auto& part : parts) part = tools::trim(part);
    return parts;
  };
  const auto before = places(recorded);
  const auto after = places(now);
  const std::set<std::string> there{after.begin(), after.end()};
  std::vector<std::string> gone;
  std::vector<std::string> kept;
  for (const auto& place : before) (there.contains(place) ? kept : gone).push_back(place);
  if (gone.empty() || kept != after) return std::nullopt;
  return fmt::format("{} {} gone", fmt::join(gone, ", "), gone.size() == 1 ? "is" : "are");
}

/// The options that determine the content of a spec.
inline std::string options_text(const Inventory& found, const Options& options) {
  tools::WriteOptions out = options;
  out.node_numbers = options.ask_host() ? "asked" : "given";
  // The CDI version of installed engines is not recorded: the content of the spec shows it.
  const auto version = options.given_version();
  out.max_version_text = version ? cdi::to_string(*version) : std::string{};
  out.vendor_files.clear();
  if (found.vendor_file.starts_with('/')) out.vendor_files.push_back(found.vendor_file);
  const std::set<std::string> devices{out.devices.begin(), out.devices.end()};
  out.devices.assign(devices.begin(), devices.end());  // in any order, the same
  return tools::options_text(std::move(out));
}

/// Adds the annotations. A spec without device numbers does not record the boot id.
inline void add_fingerprint(cdi::Spec& spec, const tools::HostTree& tree, const Inventory& found,
                            const Options& options) {
  const auto record = [&](std::string_view key, std::string value) {
    if (!value.empty()) spec.annotations.insert_or_assign(std::string{key}, std::move(value));
  };
  record(driver_annotation, found.driver_version);
  record(gpus_annotation, gpu_places(found));
  record(tools::options_annotation, options_text(found, options));
  if (!options.ask_host()) record(boot_annotation, boot_id(tree));
}

}  // namespace prepare
