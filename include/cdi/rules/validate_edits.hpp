// Rules for container edits: variables, device nodes, net devices, hooks, mounts, Intel RDT.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_VALIDATE_EDITS_HPP
#define CDI_RULES_VALIDATE_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/rules/findings.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Whether a byte is a blank, a line end or a quote, which a variable's name must not contain.
constexpr bool ends_name(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '"' || c == '\'' || c == '`';
}

inline void check_env(std::string_view entry, const MemberPath& at, Findings& out) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return out.note(Rule::env_entry, at, "invalid environment variable " + cdi::quoted(entry),
                    "use NAME=value");
  }
  const auto name = entry.substr(0, equals);
  bool good = true;
  for (const char c : name) good = good && !ends_name(c);
  if (good) return;
  out.note(Rule::env_name, at,
           "environment variable " + cdi::quoted(name) + " has spaces or quotes in its name",
           "use NAME=value");
}

inline void check_absolute(Rule rule, std::string_view path, const MemberPath& at, Findings& out) {
  if (path.starts_with('/')) return;
  out.note(rule, at, "path " + cdi::quoted(path) + " is not absolute: it must begin with /");
}

/// Checks a device number; `max` is the largest number that Linux supports.
inline void check_number(std::string_view key, std::int64_t number, std::int64_t max,
                         const MemberPath& at, Findings& out) {
  if (number < 0) {
    out.note(Rule::node_numbers, {&at, key},
             "device number " + std::to_string(number) + " is negative",
             "use 0 or more, or omit it");
  } else if (number > max) {
    out.note(Rule::node_number_size, {&at, key},
             "device number " + std::to_string(number) + " is too large for Linux",
             "use at most " + std::to_string(max) + ", or omit it");
  }
}

template <class S>
void check(const BasicDeviceNode<S>& node, const MemberPath& at, Findings& out) {
  const std::string_view path = node.path;
  const std::string_view type = node.type;
  const std::string_view permissions = node.permissions;
  const MemberPath path_at{&at, "path"};
  if (path.empty()) {
    out.note(Rule::node_path, path_at, "the device node has no path",
             "set it to the path of the node in the container");
  } else {
    check_absolute(Rule::node_path_absolute, path, path_at, out);
  }
  if (!type.empty() && type != "b" && type != "c" && type != "u" && type != "p") {
    out.note(Rule::node_type, {&at, "type"},
             "device " + cdi::quoted(path) + ": invalid type " + cdi::quoted(type),
             R"(use "b", "c", "u" or "p", or omit it)");
  }
  check_number("major", node.major, (1 << 12) - 1, at, out);
  check_number("minor", node.minor, (1 << 20) - 1, at, out);
  bool good = true;
  for (const char c : permissions) good = good && (c == 'r' || c == 'w' || c == 'm');
  if (!good && permissions != "none") {
    out.note(Rule::node_permissions, {&at, "permissions"},
             "device " + cdi::quoted(path) + ": invalid permissions " + cdi::quoted(permissions),
             R"(use a combination of "r", "w" and "m", or "none")");
  }
}

/// Whether Linux accepts a network interface name. To the kernel, the byte A0, as in the UTF-8 of
/// U+00E0, is a space.
inline bool is_interface_name(std::string_view name) {
  return name.size() <= 15 && name != "." && name != ".." &&
         name.find_first_of("/: \t\n\v\f\r\xA0") == std::string_view::npos;
}

inline void check_interface_name(std::string_view name, const MemberPath& at, Findings& out) {
  if (is_interface_name(name)) return;
  out.note(Rule::net_name_length, at, cdi::quoted(name) + " is not an interface name",
           "use 1 to 15 ASCII characters without slash, colon or space");
}

template <class S>
void check(const BasicNetDevice<S>& device, const MemberPath& at, Findings& out) {
  const MemberPath host_at{&at, "hostInterfaceName"};
  const MemberPath name_at{&at, "name"};
  if (device.host_interface_name.empty()) {
    out.note(Rule::net_names, host_at, "the net device has no host interface name",
             "set it to the interface to move");
  }
  if (device.name.empty()) {
    out.note(
        Rule::net_names, name_at,
        "net device " + cdi::quoted(device.host_interface_name) + " has no name in the container",
        "set a name");
  }
  check_interface_name(device.host_interface_name, host_at, out);
  check_interface_name(device.name, name_at, out);
}

template <class S>
void check(const BasicHook<S>& hook, const MemberPath& at, Findings& out) {
  if (!oci::parse_hook_point(hook.hook_name)) {
    std::string advice = "use one of";
    const char* separator = " ";
    for (const auto name : oci::hook_point_names) {
      advice.append(separator).append(name);
      separator = ", ";
    }
    out.note(Rule::hook_name, {&at, "hookName"}, "invalid hook name " + cdi::quoted(hook.hook_name),
             std::move(advice));
  }
  const MemberPath path_at{&at, "path"};
  if (hook.path.empty()) {
    out.note(Rule::hook_path, path_at, "hook " + cdi::quoted(hook.hook_name) + " has no path",
             "set it to the path of the program to run");
  } else {
    check_absolute(Rule::hook_path_absolute, hook.path, path_at, out);
  }
  if (hook.timeout && *hook.timeout <= 0) {
    out.note(Rule::hook_timeout_positive, {&at, "timeout"},
             "invalid timeout of " + std::to_string(*hook.timeout) + " seconds",
             "use 1 or more, or omit it for no timeout");
  }
  check_each("env", hook.env, at, out,
             [&](const auto& entry, const MemberPath& to) { check_env(entry, to, out); });
}

template <class S>
void check_bind(const BasicMount<S>& mount, const MemberPath& at, Findings& out) {
  if (is_file_system(mount.type) || has_bind(mount.options)) return;
  const MemberPath options_at{&at, "options"};
  out.note(Rule::mount_bind, mount.options.empty() ? at : options_at,
           "mount of " + cdi::quoted(mount.host_path) +
               " is not a bind mount, and runc fails to mount it",
           "add \"bind\" or \"rbind\" to its "
           "options");
}

template <class S>
void check(const BasicMount<S>& mount, const MemberPath& at, Findings& out) {
  if (mount.host_path.empty()) {
    out.note(Rule::mount_paths, {&at, "hostPath"}, "the mount has no host path",
             "set it to the path to mount");
  }
  const MemberPath container_at{&at, "containerPath"};
  if (!mount.container_path.empty()) {
    if (!mount.host_path.empty()) check_bind(mount, at, out);
    return check_absolute(Rule::mount_path_absolute, mount.container_path, container_at, out);
  }
  out.note(Rule::mount_paths, container_at,
           "mount of " + cdi::quoted(mount.host_path) + " has no container path",
           "set it to the mount point in the container");
}

/// Returns why a closID cannot be used, or an empty text if it can. SPEC.md, `intelRdt`.
inline std::string_view fault_of_clos_id(std::string_view id) {
  if (id == "/") return {};
  if (id == "." || id == "..") return " is not a valid directory name";
  if (id.find_first_of("/\n") != std::string_view::npos) return " contains a slash or newline";
  return id.size() >= 4096 ? " is longer than 4095 bytes" : "";
}

template <class S>
void check(const BasicIntelRdt<S>& rdt, const MemberPath& at, Findings& out) {
  const auto fault = fault_of_clos_id(rdt.clos_id);
  if (fault.empty()) return;
  out.note(Rule::rdt_closid, {&at, "closID"}, "closID " + cdi::quoted(rdt.clos_id).append(fault),
           "use the name of a directory in /sys/fs/resctrl, or \"/\"");
}

template <class List>
void check_net_devices(const List& devices, const MemberPath& at, Findings& out) {
  if (devices.empty()) return;
  std::vector<std::string_view> names;
  for (const auto& device : devices) names.push_back(device.host_interface_name);
  const auto first_hosts = first_of_equals(names);
  for (std::size_t i = 0; i < devices.size(); ++i) names[i] = devices[i].name;
  const auto first_names = first_of_equals(names);
  const auto check_unique = [&](std::size_t first, std::string_view name, std::string_view key,
                                const MemberPath& to) {
    if (first == to.index) return;
    out.note(Rule::net_names_unique, {&to, key},
             cdi::quoted(name) + " is already used by " + item_path("netDevices", first),
             "choose another name");
  };
  check_each("netDevices", devices, at, out, [&](const auto& device, const MemberPath& to) {
    check(device, to, out);
    check_unique(first_hosts[to.index], device.host_interface_name, "hostInterfaceName", to);
    check_unique(first_names[to.index], device.name, "name", to);
  });
}

template <class S>
void check(const BasicContainerEdits<S>& edits, const MemberPath& at, Findings& out) {
  const auto each = [&](const auto& item, const MemberPath& to) {
    if constexpr (requires { check(item, to, out); }) check(item, to, out);  // its type has rules
  };
  check_each("env", edits.env, at, out,
             [&](const auto& entry, const MemberPath& to) { check_env(entry, to, out); });
  every_field<BasicContainerEdits<S>>([&](const auto& kind) {
    if (kind.key == "netDevices") return true;  // come later, as in the reference
    if constexpr (requires { (edits.*kind.member).size(); }) {
      check_each(kind.key, edits.*kind.member, at, out, each);
    } else if (edits.*kind.member) {
      each(*(edits.*kind.member), {&at, kind.key});
    }
    return true;
  });
  check_net_devices(edits.net_devices, at, out);
  check_each("additionalGids", edits.additional_gids, at, out,
             [&](std::uint32_t id, const MemberPath& to) {
               if (id != 0) return;
               out.note(Rule::gid_zero, to, "group id 0 is ignored during injection", "remove it");
             });
}

}  // namespace cdi::detail

#endif  // CDI_RULES_VALIDATE_EDITS_HPP
