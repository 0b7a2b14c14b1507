// The bodies of <cdi/apply/device_nodes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_DEVICE_NODES_INL
#define CDI_APPLY_DEVICE_NODES_INL

#include <string>
#include <string_view>
#include <utility>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/base/result.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE Result<void> complete_device(NodeView& node, const HostRef& host, ProcessUser user) {
  const bool specified = !node.type.empty() && (node.major != 0 || node.type == "p");
  const std::string_view host_path = host_path_of(node);

  if (!specified || !node.file_mode) {
    const auto found = host(host_path);
    if (!found && !specified) return found.error();
    if (found && !node.file_mode) node.file_mode = found->file_mode;
    if (found && !specified) {
      if (node.type.empty()) node.type = type_text(found->type);
      if (node.type != type_text(found->type)) {
        std::string message = "host device " + cdi::quoted(host_path) + " is of type \"";
        message.append(type_text(found->type)).append("\", not ").append(cdi::quoted(node.type));
        return Error{.code = Errc::host, .message = std::move(message), .where = "type"};
      }
      if (node.major == 0 && node.type != "p") {
        node.major = found->major;
        node.minor = found->minor;
      }
    }
  }
  if (!node.uid && user.uid > 0) node.uid = user.uid;
  if (!node.gid && user.gid > 0) node.gid = user.gid;
  return {};
}

CDI_INLINE oci::LinuxDeviceView linux_device(const NodeView& node) {
  oci::LinuxDeviceView device;
  device.path = node.path;
  device.type = node.type;
  device.major = node.major;
  device.minor = node.minor;
  device.file_mode = node.file_mode;
  device.uid = node.uid;
  device.gid = node.gid;
  return device;
}

CDI_INLINE oci::LinuxDeviceCgroupView device_rule(const NodeView& node) {
  oci::LinuxDeviceCgroupView rule;
  rule.allow = node.type == "b" || node.type == "c";
  rule.type = node.type;
  rule.major = node.major;
  rule.minor = node.minor;
  rule.access = node.permissions.empty()     ? std::string_view{"rwm"}
                : node.permissions == "none" ? std::string_view{}
                                             : node.permissions;
  return rule;
}

}  // namespace cdi::detail

#endif  // CDI_APPLY_DEVICE_NODES_INL
