// Finds what the edits of a spec need and the host lacks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/registry.hpp>
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

HostFault fault(Effect effect, std::string message);

/// Why a file cannot be used, from the error of its lookup.
HostFault not_found(std::string_view what, std::string_view path, const cdi::Error& error);

}  // namespace faults

/// Why a container does not get a node. A runtime creates the node from the numbers in the spec,
/// which may belong to no device if the host lacks the node.
std::optional<HostFault> host_fault(const HostTree& tree, const cdi::DeviceNode& node);

std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Mount& mount);

/// Why the program of a hook cannot run. The program of a "startContainer" hook is in the
/// container.
std::optional<HostFault> host_fault(const HostTree& tree, const cdi::Hook& hook);

/// Things that edits need and the host lacks.
HostFaults host_faults(const HostTree& tree, const cdi::ContainerEdits& edits);

/// The faults in a spec's edits for all its devices, with places in the file.
HostFaults shared_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec);

/// The faults in the edits of one device.
HostFaults device_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec, std::size_t index);

/// The faults in all edits of a spec.
HostFaults all_host_faults(const HostTree& tree, const cdi::LoadedSpec& spec);

}  // namespace tools
