// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_NVIDIA_HPP
#define CDI_PREPARE_NVIDIA_HPP

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "gpu.hpp"
#include "host_tree.hpp"
#include "pci.hpp"

// NVIDIA GPUs as the kernel driver shows them in /proc and /sys. Its nodes are not in sysfs: majors
// come from /proc/devices, minors are the GPU's "Device Minor" or fixed.

namespace prepare::nvidia {

inline constexpr std::uint32_t pci_vendor = 0x10de;
inline constexpr std::int64_t control_minor = 255;
inline constexpr std::int64_t modeset_minor = 254;
inline constexpr std::int64_t uvm_minor = 0;
inline constexpr std::int64_t uvm_tools_minor = 1;

/// What the driver says of a GPU in /proc/driver/nvidia/gpus/ADDRESS/information.
struct Information {
  std::string uuid{};  // empty when the driver has not asked the GPU yet
  std::string model{};
  std::optional<std::int64_t> minor{};
  bool excluded = false;
};

/// A UUID that can be a device name; the driver fills one it does not know with question marks.
inline std::string known_uuid(const std::string& text) {
  return text.starts_with("GPU-") && cdi::is_device_name(text) ? text : std::string{};
}

/// Reads the `Name: value` lines of an information file.
inline Information parse_information(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& row : split(text, "\n")) {
    const std::string_view view = row;
    const auto colon = view.find(':');
    if (colon == std::string_view::npos) continue;
    values.try_emplace(std::string{trim(view.substr(0, colon))}, trim(view.substr(colon + 1)));
  }
  return {.uuid = known_uuid(values["GPU UUID"]),
          .model = values["Model"],
          .minor = parse_number<std::int64_t>(values["Device Minor"]),
          .excluded = values["GPU Excluded"] == "Yes"};
}

/// The major of GPU nodes; drivers before 550.40 register it under the older name.
inline std::optional<std::int64_t> gpu_major(const CharMajors& majors) {
  const auto major = majors.find("nvidia");
  return major ? major : majors.find("nvidia-frontend");
}

/// Whether a GPU is split into MIG instances. An empty `mig` directory only says that it could be.
inline bool is_mig_partitioned(const HostTree& tree, std::int64_t minor) {
  const auto names =
      tree.list("/proc/driver/nvidia/capabilities/gpu" + std::to_string(minor) + "/mig");
  return std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return name.starts_with("gi") && parse_number<std::uint32_t>(name.substr(2));
  });
}

/// Fills in what the driver knows of a GPU, and its node; answers why it cannot be handed out.
inline std::optional<std::string> examine(const HostTree& tree, const CharMajors& majors,
                                          Gpu& gpu) {
  if (gpu.driver.empty()) return "bound to no driver";
  if (gpu.driver != "nvidia") return "bound to " + gpu.driver;
  const auto text = tree.read("/proc/driver/nvidia/gpus/" + gpu.pci_address + "/information");
  if (!text) return "the driver does not answer for it: " + cdi::to_string(text.error());
  const auto information = parse_information(*text);
  gpu.id = information.uuid;
  gpu.model = information.model;
  if (information.excluded) return "excluded by the driver's configuration";
  if (!information.minor) return "the driver gives no device minor for it";
  if (is_mig_partitioned(tree, *information.minor)) return "MIG-partitioned";
  const auto major = gpu_major(majors);
  if (!major) return "/proc/devices has no major for nvidia";
  const auto path = "/dev/nvidia" + std::to_string(*information.minor);
  auto node = checked_node(tree, path, *major, *information.minor);
  if (!node) return node.error().message;
  gpu.nodes.push_back(std::move(*node));
  return std::nullopt;
}

/// Adds a control node that GPUs work without, or a warning when it is not there or another one.
inline void add_optional_node(const HostTree& tree, Inventory& found, const std::string& path,
                              std::optional<std::int64_t> major, std::int64_t minor) {
  if (!major) {
    found.warnings.push_back(path + " omitted: /proc/devices has no major for it");
  } else if (auto node = checked_node(tree, path, *major, minor)) {
    found.control_nodes.push_back(std::move(*node));
  } else {
    found.warnings.push_back(path + " omitted: " + node.error().message);
  }
}

/// Adds the nodes that all GPUs share; without the first of them none works.
inline void add_control_nodes(const HostTree& tree, const CharMajors& majors, Inventory& found) {
  const auto major = gpu_major(majors);
  auto control = checked_node(tree, "/dev/nvidiactl", major.value_or(0), control_minor);
  if (!control) {
    found.not_ready = control.error().message;
    return;
  }
  found.control_nodes.push_back(std::move(*control));
  const auto uvm_major = majors.find("nvidia-uvm");
  add_optional_node(tree, found, "/dev/nvidia-uvm", uvm_major, uvm_minor);
  add_optional_node(tree, found, "/dev/nvidia-uvm-tools", uvm_major, uvm_tools_minor);
  add_optional_node(tree, found, "/dev/nvidia-modeset", major, modeset_minor);
}

/// Takes the id from GPUs that share one, so that no name means two of them.
inline void drop_shared_ids(Inventory& found) {
  std::map<std::string, int> uses;
  for (const auto& gpu : found.gpus) ++uses[gpu.id];
  for (auto& gpu : found.gpus) {
    if (gpu.id.empty() || uses[gpu.id] == 1) continue;
    found.warnings.push_back(gpu.pci_address + ": another GPU has the same UUID, " + gpu.id);
    gpu.id.clear();
  }
}

/// Finds the NVIDIA GPUs among `functions`. Virtual functions are no GPUs of their own here: on a
/// vGPU host they belong to the hypervisor, and they come and go between the GPUs' addresses.
inline Inventory detect(const HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "nvidia.com/gpu",
                  .driver_version = tree.line("/sys/module/nvidia/version"),
                  // Keeps NVIDIA's own runtime hook from injecting the GPUs a second time.
                  .env = {"NVIDIA_VISIBLE_DEVICES=void"}};
  const CharMajors majors{tree};
  for (const auto& function : functions) {
    if (function.vendor != pci_vendor || function.is_virtual) continue;
    Gpu gpu{.vendor = "nvidia",
            .pci_address = function.address,
            .driver = function.driver,
            .numa_node = function.numa_node,
            .index = found.gpus.size()};
    gpu.left_out = examine(tree, majors, gpu);
    if (!gpu.left_out) {
      auto nodes = drm_nodes(tree, function.directory(), found.warnings);
      std::move(nodes.begin(), nodes.end(), std::back_inserter(gpu.nodes));
    }
    found.gpus.push_back(std::move(gpu));
  }
  drop_shared_ids(found);
  if (found.usable_count() > 0) add_control_nodes(tree, majors, found);
  return found;
}

}  // namespace prepare::nvidia

#endif  // CDI_PREPARE_NVIDIA_HPP
