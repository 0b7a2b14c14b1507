// Finds missing device nodes of NVIDIA's driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../model/pci.hpp"
#include "nvidia.hpp"

// The kernel does not make these nodes. nvidia-modprobe does, with numbers, owners and modes from
// the files in /proc that are read here.

namespace prepare::nvidia {

/// Owner and mode of nodes, as the driver's options say.
struct NodeRights {
  std::uint32_t mode = 0666;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool may_be_made = true;  // otherwise an option of the driver forbids it
};

/// Reads rights from /proc/driver/nvidia/params, or from the file of a capability.
inline NodeRights parse_rights(std::string_view text) {
  auto values = parse_values(text);
  const auto number = [&](std::string_view name, std::uint32_t otherwise) {
    const auto found = values.find(name);
    if (found == values.end()) return otherwise;
    return tools::parse_number<std::uint32_t>(found->second).value_or(otherwise);
  };
  const NodeRights usual;
  return {.mode = number("DeviceFileMode", usual.mode) & 0777,
          .uid = number("DeviceFileUID", usual.uid),
          .gid = number("DeviceFileGID", usual.gid),
          .may_be_made = number("ModifyDeviceFiles", number("DeviceFileModify", 1)) == 1};
}

/// The nodes that are missing, and why some are not made.
struct MissingNodes {
  std::vector<tools::HostNode> nodes{};
  std::vector<std::string> not_made{};  // paths and reasons
};

/// Compares the nodes that the driver's numbers imply with those in /dev.
class NodeCheck {
 public:
  explicit NodeCheck(const tools::HostTree& tree) : tree_{tree}, majors_{tree} {}

  /// The missing nodes that containers need.
  MissingNodes needed() {
    check_gpus();
    if (const auto major = majors_.find("nvidia-uvm")) {
      check("/dev/nvidia-uvm", *major, uvm_minor, {});
      check("/dev/nvidia-uvm-tools", *major, uvm_tools_minor, {});
    }
    return std::move(found_);
  }

  /// All missing nodes: the needed ones, and nodes of capabilities, such as MIG instances.
  MissingNodes all() {
    found_ = needed();
    if (const auto major = majors_.find("nvidia-caps")) {
      check_capabilities(*major, "/proc/driver/nvidia/capabilities", 0);
    }
    return std::move(found_);
  }

 private:
  void check_gpus() {
    const auto major = gpu_major(majors_);
    const auto params = tree_.read("/proc/driver/nvidia/params");
    if (!major) return;
    const auto rights = parse_rights(params ? std::string_view{*params} : std::string_view{});
    for (const auto& address : tree_.list("/proc/driver/nvidia/gpus")) {
      const auto text = tree_.read(fmt::format("/proc/driver/nvidia/gpus/{}/information", address));
      const auto minor = text ? parse_information(*text).minor : std::nullopt;
      if (minor) check("/dev/nvidia" + std::to_string(*minor), *major, *minor, rights);
    }
    check("/dev/nvidiactl", *major, control_minor, rights);
    const bool has_modeset = tree_.exists("/sys/module/nvidia_modeset");
    if (const auto modeset = modeset_major(majors_); modeset && has_modeset) {
      check("/dev/nvidia-modeset", *modeset, modeset_minor, rights);
    }
  }

  /// Checks the nodes of the capabilities below a directory.
  void check_capabilities(std::int64_t major, const std::string& directory, int depth) {
    constexpr int deepest = 4;  // gpu0/mig/gi1/ci0
    for (const auto& name : tree_.list(directory)) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto text = tree_.read(path);
      if (!text && depth < deepest) check_capabilities(major, path, depth + 1);
      if (!text) continue;
      auto values = parse_values(*text);
      const auto minor = tools::parse_number<std::int64_t>(values["DeviceFileMinor"]);
      if (!minor) continue;
      check(fmt::format("/dev/nvidia-caps/nvidia-cap{}", *minor), major, *minor,
            parse_rights(*text));
    }
  }

  /// Adds a node if nothing is at its path.
  void check(const std::string& path, std::int64_t major, std::int64_t minor,
             const NodeRights& rights) {
    const auto there = checked_node(tree_, path, major, minor);
    if (there) return;
    if (there.error().system != ENOENT) {
      found_.not_made.push_back(there.error().message + ": remove it first");
    } else if (!rights.may_be_made) {
      found_.not_made.push_back(path + ": an option of the driver (ModifyDeviceFiles) forbids it");
    } else if (found_.nodes.size() < max_nodes) {
      found_.nodes.push_back({.path = path,
                              .major = major,
                              .minor = minor,
                              .mode = rights.mode,
                              .uid = rights.uid,
                              .gid = rights.gid});
    }
  }

  static constexpr std::size_t max_nodes = 5000;  // the driver has fewer capabilities

  const tools::HostTree& tree_;
  CharMajors majors_;
  MissingNodes found_{};
};

}  // namespace prepare::nvidia
