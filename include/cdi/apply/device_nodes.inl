// The bodies of <cdi/apply/device_nodes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_DEVICE_NODES_INL
#define CDI_APPLY_DEVICE_NODES_INL

#include <string>
#include <utility>

#include <cdi/apply/device_nodes.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns an error for a negative device number. `apply` checks this rule of `validate`, too: a
/// cgroup rule with -1 would allow access to every device.
inline Result<void> check_numbers(const NodeView& node) {
  for (const auto& [key, number] : {std::pair{"major", node.major}, {"minor", node.minor}}) {
    if (number >= 0) continue;
    return Error{.code = Errc::invalid,
                 .message = "device number " + std::to_string(number) +
                            " is negative: in a device cgroup, runc takes -1 for every number",
                 .advice = "use 0 or more, or omit it",
                 .where = key};
  }
  return {};
}

CDI_INLINE Result<void> complete_device(NodeView& node, const HostRef& host, ProcessUser user) {
  if (auto valid = check_numbers(node); !valid) return valid;
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
