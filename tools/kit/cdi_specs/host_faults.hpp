// Finds what the edits of a spec need and the host lacks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_CDI_SPECS_HOST_FAULTS_HPP
#define CDI_TOOLS_KIT_CDI_SPECS_HOST_FAULTS_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/apply/host_options.hpp>
#include <cdi/host.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/spec.hpp>

#include "../host/host_tree.hpp"

// `cdi-prepare` makes these checks before it publishes its specs; `cdi why` and `cdi-prepare
// doctor` check the specs of all programs.

namespace tools {

/// A requirement of an edit that the host does not meet.
struct HostFault {
  enum class Effect : std::uint8_t {
    fails,     // a container does not start, or gets another device
    may_fail,  // depends on the runtime or the driver
    unknown,   // this process has no permission to check
  };

  Effect effect = Effect::fails;
  cdi::Error error{};
  std::string missing{};  // the path on the host, if nothing is there
};

using HostFaults = std::vector<HostFault>;

namespace faults {

using Effect = HostFault::Effect;

inline HostFault fault(Effect effect, std::string message) {
  return {effect, {.code = cdi::Errc::host, .message = std::move(message)}};
}

/// Why a file cannot be used, from the error of its lookup.
inline HostFault not_found(std::string_view what, std::string_view path, const cdi::Error& error) {
  const auto about = fmt::format("{} {}", what, cdi::quoted(path));
  if (error.system == ENOENT || error.system == ENOTDIR) {
    auto missing = fault(Effect::fails, about + " is missing");
    missing.missing = path;
    return missing;
  }
  const auto reason = std::generic_category().message(error.system);
  if (error.system == EACCES || error.system == EPERM) {
    return fault(Effect::unknown, fmt::format("{} cannot be checked: {}", about, reason));
  }
  return fault(Effect::fails, fmt::format("{}: {}", about, reason));
}

/// The type or number of a node, if it differs from the spec.
inline std::optional<HostFault> drift(const HostNode& there, const cdi::DeviceNode& node) {
  cdi::detail::NodeView pinned;
  pinned.path = node.path;
  pinned.host_path = node.host_path;
  pinned.type = node.type;
  pinned.major = node.major;
  pinned.minor = node.minor;
  const auto host = [&](std::string_view) -> cdi::Result<cdi::HostNode> {
    return cdi::HostNode{.type = there.type, .major = there.major, .minor = there.minor};
  };
  cdi::HostNode on_host;
  auto drift = cdi::detail::drift_of(pinned, cdi::detail::HostRef{host}, on_host);
  if (!drift) return std::nullopt;
  return fault(Effect::fails, std::move(drift->message));
}

}  // namespace faults

/// Why a container does not get a node. A runtime creates the node from the numbers in the spec,
/// which may belong to no device if the host lacks the node.
inline std::optional<HostFault> host_fault(const HostTree& tree, const cdi::DeviceNode& node) {
  if (node.type == "p") return std::nullopt;  // runtimes create FIFOs
  const auto& path = node.host_path.empty() ? node.path : node.host_path;
  const auto there = tree.node(path);
  if (there) return faults::drift(*there, node);
  if (there.error().system == ENODEV) {
    if (node.type.empty() && tree.is_fifo(path)) return std::nullopt;  // the host gives type "p"
    return faults::fault(HostFault::Effect::fails, cdi::quoted(path) + " is not a device node");
  }
  auto fault = faults::not_found("device node", path, there.error());
  const bool complete = !node.type.empty() && node.major != 0;
  if (fault.effect == HostFault::Effect::fails && complete) {
    fault.effect = HostFault::Effect::may_fail;
    fault.error.message +=
        "; the container gets a node with the numbers of the spec, which may belong "
        "to no device";
  }
  return fault;
}

inline std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Mount& mount) {
  if (!cdi::detail::is_bind_mount(mount)) return std::nullopt;
  if (mount.host_path.starts_with('/')) {  // other paths are relative to the bundle
    const auto mode = tree.mode(mount.host_path);
    if (!mode) return faults::not_found("mount source", mount.host_path, mode.error());
  }
  if (cdi::detail::has_bind(mount.options)) return std::nullopt;
  return faults::fault(
      HostFault::Effect::may_fail,
      fmt::format("mount of {} has neither \"bind\" nor \"rbind\" in its options, and runc fails "
                  "to mount it: add one of them",
                  cdi::quoted(mount.host_path)));
}

/// Why the program of a hook cannot run. The program of a "startContainer" hook is in the
/// container.
inline std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Hook& hook) {
  if (hook.hook_name == "startContainer") return std::nullopt;
  const auto mode = tree.mode(hook.path);
  if (!mode) return faults::not_found("hook program", hook.path, mode.error());
  if (HostTree::is_program(*mode)) return std::nullopt;
  return faults::fault(HostFault::Effect::fails,
                       fmt::format("hook program {} is not executable", cdi::quoted(hook.path)));
}

/// Adds the faults in a list of edits; `name` is the name of the list in the spec.
template <typename Edit>
void add_host_faults(const HostTree& tree, const std::vector<Edit>& edits, std::string_view name,
                     HostFaults& out) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto fault = host_fault(tree, edits[i]);
    if (!fault) continue;
    fault->error.where = fmt::format("{}[{}]", name, i);
    out.push_back(std::move(*fault));
  }
}

/// Things that edits need and the host lacks.
inline HostFaults host_faults(const HostTree& tree, const cdi::ContainerEdits& edits) {
  HostFaults out;
  add_host_faults(tree, edits.device_nodes, "deviceNodes", out);
  add_host_faults(tree, edits.mounts, "mounts", out);
  add_host_faults(tree, edits.hooks, "hooks", out);
  return out;
}

/// The faults in a spec's edits for all its devices, with places in the file.
inline HostFaults shared_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec) {
  auto out = host_faults(tree, spec.spec.container_edits);
  for (auto& fault : out) {
    fault.error.add_outer("containerEdits");
    fault.error.position = spec.locate(fault.error.where);
  }
  return out;
}

/// The faults in the edits of one device.
inline HostFaults device_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec,
                                     std::size_t index) {
  auto out = host_faults(tree, spec.spec.devices[index].container_edits);
  for (auto& fault : out) {
    fault.error.add_outer(fmt::format("devices[{}].containerEdits", index));
    fault.error.position = spec.locate(fault.error.where);
  }
  return out;
}

/// The faults in all edits of a spec.
inline HostFaults all_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec) {
  auto out = shared_host_faults(tree, spec);
  for (std::size_t i = 0; i < spec.spec.devices.size(); ++i) {
    for (auto& fault : device_host_faults(tree, spec, i)) out.push_back(std::move(fault));
  }
  return out;
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_CDI_SPECS_HOST_FAULTS_HPP
