// An edit as text and as a record.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>

#include "../results/devices.hpp"
#include "output.hpp"

/// The name of something on the host, unless it has the same in the container.
inline std::string from(const std::string& on_host, const std::string& in_container) {
  return on_host.empty() || on_host == in_container ? "" : " from " + printable(on_host);
}

// The kind of an edit, and a short description.
inline std::string edit_text(const std::string& variable) {
  return "env  " + printable(variable);
}
inline std::string edit_text(std::uint32_t gid) {
  return fmt::format("gid  {}", gid);
}
inline std::string edit_text(const cdi::DeviceNode& node) {
  auto text = "node  " + printable(node.path);
  if (!node.type.empty()) text += " " + printable(node.type);
  if (!node.type.empty() || node.major != 0) text += fmt::format(" {}:{}", node.major, node.minor);
  if (node.file_mode) text += fmt::format(" {:04o}", *node.file_mode);
  return text + from(node.host_path, node.path);
}
inline std::string edit_text(const cdi::NetDevice& device) {
  return "interface  " + printable(device.name) + from(device.host_interface_name, device.name);
}
inline std::string_view class_of(const cdi::Hook& hook) {
  return hook_class_name(cdi::classify_hook(cdi::command_of(hook)));
}
inline std::string edit_text(const cdi::Hook& hook) {
  return fmt::format("hook  {} {} ({})", hook.hook_name, printable(hook.path), class_of(hook));
}
inline std::string edit_text(const cdi::Mount& mount) {
  return "mount  " + printable(mount.container_path) + from(mount.host_path, mount.container_path);
}
inline std::string edit_text(const cdi::IntelRdt& settings) {
  return "rdt  " + printable(settings.clos_id);
}

/// An edit as a record.
template <class Edit>
ShownEdit<Edit> shown_edit(const Edit& edit, cdi::Origin origin, bool overridden = false) {
  ShownEdit<Edit> shown{.edit = edit, .origin = std::move(origin), .overridden = overridden};
  if constexpr (std::is_same_v<Edit, cdi::Hook>) shown.hook_class = class_of(edit);
  return shown;
}
