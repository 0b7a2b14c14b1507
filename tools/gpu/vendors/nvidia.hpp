// NVIDIA GPUs and their MIG instances.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"

// The kernel driver shows them in /proc and /sys. Its nodes are not in sysfs: major numbers are in
// /proc/devices, and minor numbers are the GPU's "Device Minor" or fixed.

namespace prepare::nvidia {

inline constexpr std::int64_t control_minor = 255;
inline constexpr std::int64_t modeset_minor = 254;
inline constexpr std::int64_t uvm_minor = 0;
inline constexpr std::int64_t uvm_tools_minor = 1;

/// The content of /proc/driver/nvidia/gpus/ADDRESS/information.
struct Information {
  std::string uuid{};  // empty until the driver has read it from the GPU
  std::string model{};
  std::optional<std::int64_t> minor{};
  bool excluded = false;
};

/// A UUID that is valid as a device name, otherwise empty: the driver prints an unknown UUID as
/// question marks.
std::string known_uuid(const std::string& text);

/// The `Name: value` lines of a file; the first line with a name wins.
std::map<std::string, std::string, std::less<>> parse_values(std::string_view text);

/// Parses an information file.
Information parse_information(std::string_view text);

/// The major number of GPU nodes; drivers before 550.40 use the older name.
std::optional<std::int64_t> gpu_major(const CharMajors& majors);

/// The major number of the modeset node; drivers before 550.40 use one name for all nodes.
std::optional<std::int64_t> modeset_major(const CharMajors& majors);

/// Adds the nodes of the IMEX channels, through which GPUs of other hosts share memory.
void add_imex_channels(const tools::HostTree& tree, const CharMajors& majors, Inventory& found);

/// Whether a function is an NVIDIA GPU. Virtual functions are not: on a vGPU host they belong to
/// the hypervisor.
bool is_gpu(const PciFunction& function);

/// Keeps NVIDIA's runtime hook from injecting the GPUs a second time.
inline constexpr const char* no_second_injection = "NVIDIA_VISIBLE_DEVICES=void";

/// Finds the NVIDIA GPUs among `functions`.
Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions);

}  // namespace prepare::nvidia
