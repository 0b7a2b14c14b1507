// Device nodes of edits: completed from the host, then as OCI devices and cgroup rules.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_DEVICE_NODES_HPP
#define CDI_ENGINE_DEVICE_NODES_HPP

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/spec_editor.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

using NodeView = BasicDeviceNode<Borrowed>;

/// A host of any type.
struct AnyHost {
  const void* host;
  Result<HostNode> (*ask)(const void* host, std::string_view path);
};

/// Completes a device node from the host. A node with type and major (a FIFO needs no major) is
/// specified: then a host without that node is not an error.
Result<void> complete_device(NodeView& node, const AnyHost& host, ProcessUser user);

/// A completed device node as an OCI device.
oci::LinuxDeviceView linux_device(const NodeView& node);

/// The device cgroup rule of a completed device node; `allow` is false when there is none.
oci::LinuxDeviceCgroupView device_rule(const NodeView& node);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/impl/device_nodes.hpp>
#endif

#endif  // CDI_ENGINE_DEVICE_NODES_HPP
