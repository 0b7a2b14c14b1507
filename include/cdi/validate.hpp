// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VALIDATE_HPP
#define CDI_VALIDATE_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <cdi/fields.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

// The rules that a CDI document must meet beyond its shape. The first one broken is the error; its
// `where` is the path of the member, seen from the value that was given.

namespace cdi::inline CDI_ABI {

namespace detail {

inline Error broken(std::string_view where, std::string message) {
  return {.code = Errc::invalid, .message = std::move(message), .where = std::string{where}};
}

/// Checks each item of a list with `check(item)`.
template <class List, class Check>
Result<void> check_each(std::string_view key, const List& list, Check&& check) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<void> good = check(list[i]);
    if (!good) return std::move(good).error().under(item_path(key, i));
  }
  return {};
}

inline Result<void> check_env(std::string_view entry) {
  const auto equals = entry.find('=');
  if (equals != std::string_view::npos && equals > 0) return {};
  return broken("", "invalid environment variable " + quoted(entry) + ": write NAME=value");
}

}  // namespace detail

/// Path given; type one of b, c, u, p; permissions some of r, w, m, or none.
template <Storage S>
Result<void> validate(const BasicDeviceNode<S>& node) {
  const std::string_view path = node.path;
  const std::string_view type = node.type;
  const std::string_view permissions = node.permissions;
  if (path.empty()) {
    return detail::broken("path", "the device node has no path: name the node in the container");
  }
  const auto subject = [&] {
    return "device " + detail::quoted(path) + ": ";
  };
  if (!type.empty() && type != "b" && type != "c" && type != "u" && type != "p") {
    return detail::broken("type", subject() + "invalid type " + detail::quoted(type) +
                                      R"(: use "b", "c", "u" or "p", or leave it out)");
  }
  if (permissions != "none" && permissions.find_first_not_of("rwm") != std::string_view::npos) {
    return detail::broken("permissions", subject() + "invalid permissions " +
                                             detail::quoted(permissions) +
                                             R"(: use some of "rwm", or "none")");
  }
  return {};
}

/// Both names given.
template <Storage S>
Result<void> validate(const BasicNetDevice<S>& device) {
  if (device.host_interface_name.empty()) {
    return detail::broken("hostInterfaceName", "the net device names no interface of the host");
  }
  if (device.name.empty()) {
    return detail::broken("name", "net device " + detail::quoted(device.host_interface_name) +
                                      " has no name in the container");
  }
  return {};
}

/// Name one of the six hook points, path given, environment of the form NAME=value.
template <Storage S>
Result<void> validate(const BasicHook<S>& hook) {
  if (!oci::parse_hook_point(hook.hook_name)) {
    std::string message = "invalid hook name " + detail::quoted(hook.hook_name) + ": use one of";
    for (const auto name : oci::hook_point_names) message.append(1, ' ').append(name);
    return detail::broken("hookName", std::move(message));
  }
  if (hook.path.empty()) {
    return detail::broken(
        "path", "hook " + detail::quoted(hook.hook_name) + " has no path: name the program to run");
  }
  return detail::check_each("env", hook.env, detail::check_env);
}

/// Both paths given.
template <Storage S>
Result<void> validate(const BasicMount<S>& mount) {
  if (mount.host_path.empty()) {
    return detail::broken("hostPath", "the mount has no host path: name what to mount");
  }
  if (mount.container_path.empty()) {
    return detail::broken("containerPath", "mount of " + detail::quoted(mount.host_path) +
                                               " has no container path: name where to mount it");
  }
  return {};
}

/// closID names a directory below /sys/fs/resctrl, or "/" for the root one.
template <Storage S>
Result<void> validate(const BasicIntelRdt<S>& rdt) {
  const std::string_view id = rdt.clos_id;
  if (id == "/") return {};
  std::string_view fault;
  if (id == "." || id == "..") {
    fault = " is no name of a directory";
  } else if (id.find_first_of("/\n") != std::string_view::npos) {
    fault = " holds a slash or newline";
  } else if (id.size() >= 4096) {
    fault = " is longer than 4095 bytes";
  } else {
    return {};
  }
  return detail::broken("closID",
                        "closID " + detail::quoted(id).append(fault).append(
                                        ": name a directory below /sys/fs/resctrl, or \"/\""));
}

/// Every edit by its own rule; no host interface and no container name twice among the net devices.
template <Storage S>
Result<void> validate(const BasicContainerEdits<S>& edits) {
  const auto rule = [](const auto& item) {
    return cdi::validate(item);
  };
  if (auto r = detail::check_each("env", edits.env, detail::check_env); !r) return r;
  if (auto r = detail::check_each("deviceNodes", edits.device_nodes, rule); !r) return r;
  if (auto r = detail::check_each("hooks", edits.hooks, rule); !r) return r;
  if (auto r = detail::check_each("mounts", edits.mounts, rule); !r) return r;
  if (edits.intel_rdt) {
    if (auto r = cdi::validate(*edits.intel_rdt); !r) return std::move(r).error().under("intelRdt");
  }
  std::unordered_map<std::string_view, std::size_t> hosts;
  std::unordered_map<std::string_view, std::size_t> names;
  std::size_t i = 0;
  return detail::check_each("netDevices", edits.net_devices, [&](const auto& item) -> Result<void> {
    if (auto r = cdi::validate(item); !r) return r;
    const auto host = hosts.emplace(item.host_interface_name, i);
    const auto name = names.emplace(item.name, i);
    ++i;
    const auto taken = [](std::string_view key, std::string_view text, std::size_t first) {
      return detail::broken(key, detail::quoted(text) + " is taken by " +
                                     detail::item_path("netDevices", first) +
                                     " already: choose another");
    };
    if (!host.second)
      return taken("hostInterfaceName", item.host_interface_name, host.first->second);
    if (!name.second) return taken("name", item.name, name.first->second);
    return {};
  });
}

/// A good name, and edits that are good and not empty.
template <Storage S>
Result<void> validate(const BasicDevice<S>& device) {
  if (!is_device_name(device.name)) return name_error(NamePart::device, device.name).under("name");
  if (is_empty(device.container_edits)) {
    return detail::broken("containerEdits", "device " + detail::quoted(device.name) +
                                                " has no edits: it would change nothing");
  }
  auto r = cdi::validate(device.container_edits);
  if (!r) return std::move(r).error().under("containerEdits");
  return r;
}

/// A known version, new enough for what is used; a good kind; good edits; at least one device, all
/// good, no name twice. What the Go reference refuses, and nothing else.
template <Storage S>
Result<void> validate(const BasicSpec<S>& spec) {
  const auto declared = parse_release(spec.version);
  if (!declared) {
    std::string message = "unknown version " + detail::quoted(spec.version) + ": use one of";
    for (const Release r : known_releases) {
      if (r >= Release{}) message.append(1, ' ').append(cdi::to_string(r));
    }
    return detail::broken("cdiVersion", std::move(message));
  }
  if (const auto need = minimum_need(spec); *declared < need.release) {
    std::string message = "version " + detail::quoted(spec.version) + " is too old";
    if (!need.where.empty()) message.append(" for ").append(need.where);
    return detail::broken(
        "cdiVersion", message.append(": write \"").append(to_string(need.release)).append("\""));
  }
  if (!parse_kind(spec.kind)) return kind_error(spec.kind).under("kind");
  if (auto r = cdi::validate(spec.container_edits); !r) {
    return std::move(r).error().under("containerEdits");
  }
  if (spec.devices.empty())
    return detail::broken("devices", "the spec has no devices: define at least one");
  std::unordered_map<std::string_view, std::size_t> names;
  std::size_t i = 0;
  return detail::check_each("devices", spec.devices, [&](const auto& device) -> Result<void> {
    if (auto r = cdi::validate(device); !r) return r;
    const auto [first, fresh] = names.emplace(device.name, i);
    ++i;
    if (fresh) return {};
    return detail::broken("name", "device " + detail::quoted(device.name) + " is defined by " +
                                      detail::item_path("devices", first->second) +
                                      " already: choose another name");
  });
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_VALIDATE_HPP
