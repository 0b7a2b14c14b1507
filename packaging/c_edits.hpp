// `cdi_edits`: the edits of devices as plain structs.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PACKAGING_C_EDITS_HPP
#define CDI_PACKAGING_C_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <cdi/cdi.h>
#include <cdi/hooks.hpp>
#include <cdi/plan.hpp>
#include <cdi/spec.hpp>

#include "c_objects.hpp"

namespace c_library {

/// The edits of devices, and the plan whose texts they point to.
struct EditsStorage {
  cdi::Plan plan{};
  Texts origins{};
  std::deque<std::vector<const char*>> lists{};
  std::vector<cdi_node> nodes{};
  std::vector<cdi_rule> rules{};
  std::vector<cdi_mount> mounts{};
  std::vector<cdi_hook> hooks{};
  std::vector<std::uint32_t> gids{};
  std::vector<cdi_net_device> net_devices{};
  cdi_intel_rdt intel_rdt{};

  cdi_strings strings(const std::vector<std::string>& texts) {
    auto& pointers = lists.emplace_back();
    for (const auto& text : texts) pointers.push_back(text.c_str());
    return {pointers.data(), pointers.size()};
  }

  /// Calls `add(edit, origin)` for each edit that a container gets.
  template <class Edit, class Add>
  void each(const std::vector<cdi::Planned<Edit>>& all, const Add& add) {
    for (const auto& one : all) {
      if (!one.overridden) add(one.edit, origins.keep(to_string(one.origin)));
    }
  }
};
using EditsBox = Box<cdi_edits, EditsStorage>;

inline cdi_node node_of(const cdi::DeviceNode& from, const char* origin) {
  return {.path = from.path.c_str(),
          .type = from.type.front(),
          .major = from.major,
          .minor = from.minor,
          .has_file_mode = from.file_mode.has_value(),
          .has_uid = from.uid.has_value(),
          .has_gid = from.gid.has_value(),
          .file_mode = from.file_mode.value_or(0),
          .uid = from.uid.value_or(0),
          .gid = from.gid.value_or(0),
          .origin = origin};
}

/// Adds a rule for each node of a plan, also for those that another replaces.
inline void fill_rules(EditsStorage& to) {
  for (const auto& [node, origin, overridden] : to.plan.device_nodes) {
    if (node.type != "b" && node.type != "c") continue;
    const bool none = node.permissions == "none";
    to.rules.push_back({.type = node.type.front(),
                        .major = node.major,
                        .minor = node.minor,
                        .access = none ? "" : node.permissions.c_str()});
  }
}

inline cdi_hook hook_of(const cdi::Hook& from, const char* origin, EditsStorage& to) {
  const auto hook_class = cdi::classify_hook(cdi::command_of(from));
  return {.point = from.hook_name.c_str(),
          .path = from.path.c_str(),
          .args = to.strings(from.args),
          .env = to.strings(from.env),
          .has_timeout = from.timeout.has_value(),
          .timeout = from.timeout.value_or(0),
          .hook_class = cdi::hook_class_name(hook_class).data(),  // a literal
          .origin = origin};
}

inline cdi_intel_rdt intel_rdt_of(const cdi::IntelRdt& from, const char* origin, EditsStorage& to) {
  const bool monitoring = from.enable_cmt.value_or(false) || from.enable_mbm.value_or(false);
  return {.clos_id = from.clos_id.c_str(),
          .schemata = from.schemata ? to.strings(*from.schemata) : cdi_strings{},
          .l3_cache_schema = from.l3_cache_schema.c_str(),
          .mem_bw_schema = from.mem_bw_schema.c_str(),
          .enable_monitoring = from.enable_monitoring || monitoring,
          .origin = origin};
}

/// Lets two members of a struct describe a list.
template <class T>
inline void point_to(const std::vector<T>& list, const T*& items, std::size_t& count) {
  items = list.data();
  count = list.size();
}

/// Fills the structs from the plan in the storage.
inline void fill(EditsBox& box) {
  auto& to = box.storage;
  auto& object = box.object;
  const auto& plan = to.plan;
  auto& env = to.lists.emplace_back();
  for (const auto& one : plan.env) {
    if (!one.overridden) env.push_back(one.edit.c_str());
  }
  object.env = {env.data(), env.size()};
  to.each(plan.device_nodes,
          [&](const auto& node, const char* origin) { to.nodes.push_back(node_of(node, origin)); });
  fill_rules(to);
  to.each(plan.mounts, [&](const cdi::Mount& mount, const char* origin) {
    to.mounts.push_back({mount.container_path.c_str(), mount.host_path.c_str(), mount.type.c_str(),
                         to.strings(mount.options), origin});
  });
  to.each(plan.hooks, [&](const cdi::Hook& hook, const char* origin) {
    to.hooks.push_back(hook_of(hook, origin, to));
  });
  for (const auto& one : plan.additional_gids) to.gids.push_back(one.edit);
  to.each(plan.net_devices, [&](const cdi::NetDevice& device, const char* origin) {
    to.net_devices.push_back({device.host_interface_name.c_str(), device.name.c_str(), origin});
  });
  to.each(plan.intel_rdt, [&](const cdi::IntelRdt& rdt, const char* origin) {
    to.intel_rdt = intel_rdt_of(rdt, origin, to);
    object.intel_rdt = &to.intel_rdt;
  });
  point_to(to.nodes, object.nodes, object.node_count);
  point_to(to.rules, object.rules, object.rule_count);
  point_to(to.mounts, object.mounts, object.mount_count);
  point_to(to.hooks, object.hooks, object.hook_count);
  point_to(to.gids, object.gids, object.gid_count);
  point_to(to.net_devices, object.net_devices, object.net_device_count);
}

}  // namespace c_library

#endif  // CDI_PACKAGING_C_EDITS_HPP
