// The last check before a spec is published: every host path in it exists.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_SPEC_VERIFY_HPP
#define CDI_PREPARE_SPEC_VERIFY_HPP

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../host/host_tree.hpp"

// It does not depend on how the spec was made.

namespace prepare {

/// Why a node of a spec cannot be created in a container. A node with all numbers need not be on
/// the host.
inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::DeviceNode& node) {
  const auto& path = node.host_path.empty() ? node.path : node.host_path;
  const auto there = tree.node(path);
  if (!there) {
    const bool complete = !node.type.empty() && node.major != 0;
    if (complete && there.error().system == ENOENT) return std::nullopt;
    return there.error().message;
  }
  if (node.type.empty()) return std::nullopt;
  if (node.type.front() == there->type && node.major == there->major &&
      node.minor == there->minor) {
    return std::nullopt;
  }
  return fmt::format("{} is {} {}:{}", path, there->type, there->major, there->minor);
}

inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::Mount& mount) {
  if (tree.real_path(mount.host_path)) return std::nullopt;
  return mount.host_path + " does not exist";
}

inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::Hook& hook) {
  if (tree.is_program(hook.path)) return std::nullopt;
  return hook.path + " is not a program";
}

/// The first fault in a list of edits of one kind.
template <typename Edit>
std::optional<std::string> first_fault(const HostTree& tree, const std::vector<Edit>& edits) {
  for (const auto& edit : edits) {
    if (auto fault = fault_of(tree, edit)) return fault;
  }
  return std::nullopt;
}

/// The first reason why edits cannot be applied on this host.
inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::ContainerEdits& edits) {
  if (auto fault = first_fault(tree, edits.device_nodes)) return fault;
  if (auto fault = first_fault(tree, edits.mounts)) return fault;
  return first_fault(tree, edits.hooks);
}

/// A device that was left out, and why.
struct LeftOut {
  std::string kind{};
  std::string name{};
  std::string reason{};
};

/// Removes the devices that the host cannot provide from a spec, and returns them; an error when no
/// device is left.
inline cdi::Result<std::vector<LeftOut>> verify(const HostTree& tree, cdi::Spec& spec) {
  const auto failure = [&](std::string_view reason) {
    return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("{}: {}", spec.kind, reason)};
  };
  if (const auto fault = fault_of(tree, spec.container_edits)) return failure(*fault);
  std::vector<LeftOut> left_out;
  std::erase_if(spec.devices, [&](const cdi::Device& device) {
    auto fault = fault_of(tree, device.container_edits);
    if (!fault) return false;
    left_out.push_back({spec.kind, device.name, std::move(*fault)});
    return true;
  });
  if (spec.devices.empty()) {
    return failure(left_out.empty() ? "there is no device to hand out" : left_out.front().reason);
  }
  return left_out;
}

}  // namespace prepare

#endif  // CDI_PREPARE_SPEC_VERIFY_HPP
