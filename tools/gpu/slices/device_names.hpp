// The names of devices in Kubernetes: DNS labels.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../claims/found_device.hpp"
#include "../survey/survey.hpp"

// A name depends only on the kind and the stable name of its device. It stays valid over restarts
// and reboots, whatever other devices come and go.

namespace prepare {

namespace detail {

/// A text in the letters of a DNS label: other characters become "-", except at the end.
std::string label_letters(std::string_view text);

/// 12 hexadecimal digits of a text's FNV-1a hash.
std::string short_hash(std::string_view text);

}  // namespace detail

/// The DNS label of a device name: "nvidia-gpu-18db0e85-...-gi1-ci0". Names of vendor files, and
/// names that lose characters, end with a hash.
std::string dns_label(std::string_view kind, std::string_view name);

/// The name of a device in ResourceSlices and claims.
std::string dns_name(const FoundDevice& device);

/// The name of a device in CDI specs: "nvidia.com/gpu=GPU-18db0e85-...".
std::string cdi_name(const FoundDevice& device);

/// The named devices of a survey, including those that cannot be handed out now.
std::vector<FoundDevice> all_devices(const Survey& survey);

/// The names that a device has, or had before its driver knew its id.
std::vector<std::string> dns_names(const FoundDevice& device);

/// The device with a name, even if it cannot be handed out; nullopt if there is none. Current names
/// have priority over names from before the driver knew an id.
std::optional<FoundDevice> device_named(const Survey& survey, std::string_view name);

/// The usable device with a name in Kubernetes. `Errc::not_found` with the reason if there is none.
cdi::Result<FoundDevice> find_by_dns_name(const Survey& survey, const std::string& name);

}  // namespace prepare
