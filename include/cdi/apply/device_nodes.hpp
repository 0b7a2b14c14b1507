// Device nodes of edits: completed from the host, then converted to OCI devices and cgroup rules.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_DEVICE_NODES_HPP
#define CDI_APPLY_DEVICE_NODES_HPP

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <cdi/apply/host.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

using NodeView = BasicDeviceNode<Borrowed>;

/// A reference to a host of any type, either an object or a function.
class HostRef {
 public:
  template <HostLookup Host>
  explicit HostRef(const Host& host)
      : host_{const_cast<void*>(reinterpret_cast<const void*>(&host))},
        ask_{[](void* known, std::string_view path) {
          return (*reinterpret_cast<const Host*>(known))(path);
        }} {}

  Result<HostNode> operator()(std::string_view path) const { return ask_(host_, path); }

 private:
  void* host_;  // not const, because it may point to a function
  Result<HostNode> (*ask_)(void* host, std::string_view path);
};

/// Returns the path of a device node on the host.
inline std::string_view host_path_of(const NodeView& node) {
  return node.host_path.empty() ? node.path : node.host_path;
}

/// Returns the type of a `HostNode` as specs write it.
constexpr std::string_view type_text(char type) {
  return type == 'b' ? "b" : type == 'c' ? "c" : "p";
}

/// Completes a device node from the host. A node with a type and a major number (a FIFO needs none)
/// is fully specified; it need not exist on the host.
Result<void> complete_device(NodeView& node, const HostRef& host, ProcessUser user);

/// Converts a completed device node to an OCI device.
oci::LinuxDeviceView linux_device(const NodeView& node);

/// Returns the cgroup rule of a completed device node; `allow` is false if there is no rule.
oci::LinuxDeviceCgroupView device_rule(const NodeView& node);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/apply/device_nodes.inl>
#endif

#endif  // CDI_APPLY_DEVICE_NODES_HPP
