// Finds what the edits of a spec need and the host lacks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "host_faults.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <cdi/apply/host_options.hpp>
#include <cdi/registry.hpp>
#include <cdi/rules/mount_options.hpp>

namespace tools::faults {

namespace {

/// The type or number of a node, if it differs from the spec.
std::optional<HostFault> drift(const HostNode& there, const cdi::DeviceNode& node) {
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

}  // namespace

HostFault fault(Effect effect, std::string message) {
  return {effect, {.code = cdi::Errc::host, .message = std::move(message)}};
}

HostFault not_found(std::string_view what, std::string_view path, const cdi::Error& error) {
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

}  // namespace tools::faults

namespace tools {

namespace {

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

}  // namespace

std::optional<HostFault> host_fault(const HostTree& tree, const cdi::DeviceNode& node) {
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

std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Mount& mount) {
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

std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Hook& hook) {
  if (hook.hook_name == "startContainer") return std::nullopt;
  const auto mode = tree.mode(hook.path);
  if (!mode) return faults::not_found("hook program", hook.path, mode.error());
  if (HostTree::is_program(*mode)) return std::nullopt;
  return faults::fault(HostFault::Effect::fails,
                       fmt::format("hook program {} is not executable", cdi::quoted(hook.path)));
}

HostFaults host_faults(const HostTree& tree, const cdi::ContainerEdits& edits) {
  HostFaults out;
  add_host_faults(tree, edits.device_nodes, "deviceNodes", out);
  add_host_faults(tree, edits.mounts, "mounts", out);
  add_host_faults(tree, edits.hooks, "hooks", out);
  return out;
}

HostFaults shared_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec) {
  auto out = host_faults(tree, spec.spec.container_edits);
  for (auto& fault : out) {
    fault.error.add_outer("containerEdits");
    fault.error.position = spec.locate(fault.error.where);
  }
  return out;
}

HostFaults device_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec,
                              std::size_t index) {
  auto out = host_faults(tree, spec.spec.devices[index].container_edits);
  for (auto& fault : out) {
    fault.error.add_outer(fmt::format("devices[{}].containerEdits", index));
    fault.error.position = spec.locate(fault.error.where);
  }
  return out;
}

HostFaults all_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec) {
  auto out = shared_host_faults(tree, spec);
  for (std::size_t i = 0; i < spec.spec.devices.size(); ++i) {
    for (auto& fault : device_host_faults(tree, spec, i)) out.push_back(std::move(fault));
  }
  return out;
}

}  // namespace tools
