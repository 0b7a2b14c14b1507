// `cdi_edits`: the edits of devices as plain structs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_C_EDITS_HPP
#define CDI_C_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <cdi/cdi.h>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/spec.hpp>

#include "objects.hpp"

namespace c_library {

/// The edits of devices, and the plan that owns their texts.
struct EditsStorage {
  cdi::Plan plan{};
  Texts texts{};
  std::deque<std::vector<const char*>> lists{};
  std::vector<const char*> env{};
  Objects<cdi_node> nodes{};
  Objects<cdi_rule> rules{};
  Objects<cdi_mount> mounts{};
  Objects<cdi_hook> hooks{};
  std::vector<std::uint32_t> gids{};
  Objects<cdi_net_device> net_devices{};
  Objects<cdi_intel_rdt> intel_rdt{};
  std::vector<cdi::HookNote> hook_notes{};
  Objects<cdi_hook_note> notes{};

  template <class List>
  cdi_strings strings(const List& from) {
    auto& pointers = lists.emplace_back();
    for (const auto& text : from) pointers.push_back(text.data());
    return {pointers.data(), pointers.size()};
  }

  const char* keep(const cdi::Origin& origin) { return texts.keep(to_string(origin)); }
};
using EditsBox = Box<Grown<cdi_edits>, EditsStorage>;

inline const char* access_of(const cdi::DeviceNode& node) {
  return node.permissions == "none" ? "" : node.permissions.c_str();
}

inline cdi_node node_of(const cdi::DeviceNode& from, const char* origin) {
  static_assert(cdi::field_count<cdi::DeviceNode>() == 9, "cdi: give cdi_node the new member");
  return {.size = sizeof(cdi_node),
          .path = from.path.c_str(),
          .host_path = from.host_path.c_str(),
          .type = from.type.front(),
          .major = from.major,
          .minor = from.minor,
          .has_file_mode = from.file_mode.has_value(),
          .has_uid = from.uid.has_value(),
          .has_gid = from.gid.has_value(),
          .file_mode = from.file_mode.value_or(0),
          .uid = from.uid.value_or(0),
          .gid = from.gid.value_or(0),
          .access = access_of(from),
          .origin = origin};
}

/// Adds a rule for each node of a plan, including nodes that another node replaces.
inline void fill_rules(EditsStorage& to) {
  for (const auto& [node, origin, overridden] : to.plan.device_nodes) {
    if (node.type != "b" && node.type != "c") continue;
    to.rules.add({.size = sizeof(cdi_rule),
                  .type = node.type.front(),
                  .access = access_of(node),
                  .major = node.major,
                  .minor = node.minor});
  }
}

inline cdi_mount mount_of(const cdi::Mount& from, const char* origin, EditsStorage& to) {
  static_assert(cdi::field_count<cdi::Mount>() == 4, "cdi: give cdi_mount the new member");
  return {.size = sizeof(cdi_mount),
          .destination = from.container_path.c_str(),
          .source = from.host_path.c_str(),
          .type = from.type.c_str(),
          .options = to.strings(from.options),
          .is_bind = cdi::detail::has_bind(from.options),
          .read_only = cdi::detail::is_read_only(from.options),
          .origin = origin};
}

inline cdi_hook hook_of(const cdi::Hook& from, const char* origin, EditsStorage& to) {
  static_assert(cdi::field_count<cdi::Hook>() == 5, "cdi: give cdi_hook the new member");
  const auto hook_class = cdi::classify_hook(cdi::command_of(from));
  return {.size = sizeof(cdi_hook),
          .point = from.hook_name.c_str(),
          .path = from.path.c_str(),
          .args = to.strings(from.args),
          .env = to.strings(from.env),
          .has_timeout = from.timeout.has_value(),
          .timeout = from.timeout.value_or(0),
          .hook_class = cdi::hook_class_name(hook_class).data(),  // a literal
          .origin = origin};
}

inline cdi_intel_rdt intel_rdt_of(const cdi::IntelRdt& from, const char* origin, EditsStorage& to) {
  static_assert(cdi::field_count<cdi::IntelRdt>() == 7, "cdi: give cdi_intel_rdt the new member");
  return {.size = sizeof(cdi_intel_rdt),
          .clos_id = from.clos_id.c_str(),
          .schemata = from.schemata ? to.strings(*from.schemata) : cdi_strings{},
          .l3_cache_schema = from.l3_cache_schema.c_str(),
          .mem_bw_schema = from.mem_bw_schema.c_str(),
          .enable_monitoring = from.monitors(),
          .origin = origin};
}

// Adds an edit that a container receives to its list in `cdi_edits`.
inline void add(const std::string& variable, const cdi::Origin&, EditsStorage& to) {
  to.env.push_back(variable.c_str());
}
inline void add(const cdi::DeviceNode& node, const cdi::Origin& origin, EditsStorage& to) {
  to.nodes.add(node_of(node, to.keep(origin)));
}
inline void add(const cdi::NetDevice& device, const cdi::Origin& origin, EditsStorage& to) {
  static_assert(cdi::field_count<cdi::NetDevice>() == 2, "cdi: give cdi_net_device the new member");
  to.net_devices.add({sizeof(cdi_net_device), device.host_interface_name.c_str(),
                      device.name.c_str(), to.keep(origin)});
}
inline void add(const cdi::Hook& hook, const cdi::Origin& origin, EditsStorage& to) {
  to.hooks.add(hook_of(hook, to.keep(origin), to));
}
inline void add(const cdi::Mount& mount, const cdi::Origin& origin, EditsStorage& to) {
  to.mounts.add(mount_of(mount, to.keep(origin), to));
}
inline void add(const cdi::IntelRdt& settings, const cdi::Origin& origin, EditsStorage& to) {
  to.intel_rdt.add(intel_rdt_of(settings, to.keep(origin), to));
}
inline void add(std::uint32_t gid, const cdi::Origin&, EditsStorage& to) {
  to.gids.push_back(gid);
}

/// Fills in the lists of edits.
inline void fill_lists(EditsStorage& to) {
  static_assert(cdi::field_count<cdi::ContainerEdits>() == 7, "cdi: give cdi_edits the new list");
  cdi::Plan::each_kind([&](const char*, auto list, auto) {
    for (const auto& [edit, origin, overridden] : to.plan.*list) {
      if (!overridden) add(edit, origin, to);
    }
  });
  fill_rules(to);
}

inline void fill_notes(EditsStorage& to) {
  for (const auto& note : to.hook_notes) {
    to.notes.add({.size = sizeof(cdi_hook_note),
                  .hook_class = cdi::hook_class_name(note.hook_class).data(),  // a literal
                  .way = cdi::hook_way_name(note.way).data(),                  // a literal
                  .subject = note.subject.c_str(),
                  .reason = note.reason.c_str(),
                  .origin = to.keep(note.origin)});
  }
}

/// Fills in the structs from the plan in the storage.
inline void fill(EditsBox& box) {
  auto& to = box.storage;
  auto& edits = box.object.object;
  edits.size = sizeof edits;
  fill_lists(to);
  edits.env = {to.env.data(), to.env.size()};
  to.nodes.give(edits.nodes, edits.node_count);
  to.rules.give(edits.rules, edits.rule_count);
  to.mounts.give(edits.mounts, edits.mount_count);
  to.hooks.give(edits.hooks, edits.hook_count);
  edits.gids = to.gids.data();
  edits.gid_count = to.gids.size();
  to.net_devices.give(edits.net_devices, edits.net_device_count);
  edits.intel_rdt = to.intel_rdt.first();
  fill_notes(to);
  to.notes.give(edits.notes, edits.note_count);
}

}  // namespace c_library

#endif  // CDI_C_EDITS_HPP
