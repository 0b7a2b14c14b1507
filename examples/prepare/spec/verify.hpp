// cdi - Container Device Interface for C++20
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

// The last look before a spec is published: that each path of the host in it is there. It knows
// nothing of how the spec was made.

namespace prepare {

/// Why a node cannot be made in a container as the spec has it. One that the spec has all numbers
/// of need not be on the host.
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
  return mount.host_path + " is not there";
}

inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::Hook& hook) {
  if (tree.is_program(hook.path)) return std::nullopt;
  return hook.path + " is no program";
}

/// The first fault of a list of edits of one kind.
template <typename Edit>
std::optional<std::string> first_fault(const HostTree& tree, const std::vector<Edit>& edits) {
  for (const auto& edit : edits) {
    if (auto fault = fault_of(tree, edit)) return fault;
  }
  return std::nullopt;
}

/// Why edits cannot be carried out on this host; the first reason.
inline std::optional<std::string> fault_of(const HostTree& tree, const cdi::ContainerEdits& edits) {
  if (auto fault = first_fault(tree, edits.device_nodes)) return fault;
  if (auto fault = first_fault(tree, edits.mounts)) return fault;
  return first_fault(tree, edits.hooks);
}

/// A device that is not in a spec, and why.
struct LeftOut {
  std::string kind{};
  std::string name{};
  std::string reason{};
};

/// Takes the devices from a spec that cannot be had; an error when none can.
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
    return failure(left_out.empty() ? "nothing to hand out" : left_out.front().reason);
  }
  return left_out;
}

}  // namespace prepare

#endif  // CDI_PREPARE_SPEC_VERIFY_HPP
