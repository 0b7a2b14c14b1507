// C structs of libocispec in tests: filled from the OCI model, read as one, and freed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/oci.hpp>

#include "../../examples/editors/c_spec.h"
#include "../../examples/editors/c_spec_editor.hpp"

namespace c_spec_test {

using CSpec = runtime_spec_schema_config_schema;
using Model = cdi::oci::Spec;
using IdMapping = runtime_spec_schema_defs_id_mapping;

/// Calls `visit(items, length)` for each list of hooks, in the order of `HookPoint`.
template <class Hooks, class Visit>
inline void each_hook_list(Hooks& hooks, Visit visit) {
  visit(hooks.prestart, hooks.prestart_len);
  visit(hooks.create_runtime, hooks.create_runtime_len);
  visit(hooks.create_container, hooks.create_container_len);
  visit(hooks.start_container, hooks.start_container_len);
  visit(hooks.poststart, hooks.poststart_len);
  visit(hooks.poststop, hooks.poststop_len);
}

template <class T>
inline void free_list(T** items, std::size_t length, void (*free_item)(T*)) {
  for (std::size_t i = 0; i < length; ++i) free_item(items[i]);
  std::free(items);
}

inline void free_texts(char** texts, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) std::free(texts[i]);
  std::free(texts);
}

inline void free_rule(c_spec::Rule* rule) {
  std::free(rule->type);
  std::free(rule->access);
  std::free(rule);
}

inline void free_hook(c_spec::Hook* hook) {
  std::free(hook->path);
  free_texts(hook->args, hook->args_len);
  free_texts(hook->env, hook->env_len);
  std::free(hook);
}

inline void free_mapping(IdMapping* mapping) {
  std::free(mapping);
}

inline void free_linux(runtime_spec_schema_config_linux* part) {
  free_list<c_spec::Device>(part->devices, part->devices_len, c_spec::release);
  if (part->resources != nullptr) {
    free_list<c_spec::Rule>(part->resources->devices, part->resources->devices_len, free_rule);
    std::free(part->resources);
  }
#if C_SPEC_CRUN >= 22
  if (auto* const map = part->net_devices; map != nullptr) {
    free_texts(map->keys, map->len);
    free_list(map->values, map->len, free_runtime_spec_schema_defs_linux_net_device);
    std::free(map);
  }
#endif
  free_list<IdMapping>(part->uid_mappings, part->uid_mappings_len, free_mapping);
  free_list<IdMapping>(part->gid_mappings, part->gid_mappings_len, free_mapping);
  for (std::size_t i = 0; i < part->namespaces_len; ++i) {
    std::free(part->namespaces[i]->type);
    std::free(part->namespaces[i]);
  }
  std::free(part->namespaces);
  c_spec::release(part->intel_rdt);
  std::free(part);
}

/// A spec of C structs, freed by the destructor.
class OwnedCSpec {
 public:
  OwnedCSpec() = default;
  OwnedCSpec(const OwnedCSpec&) = delete;
  OwnedCSpec& operator=(const OwnedCSpec&) = delete;
  ~OwnedCSpec() {
    if (spec.process != nullptr) {
      free_texts(spec.process->env, spec.process->env_len);
      if (spec.process->user != nullptr) std::free(spec.process->user->additional_gids);
      std::free(spec.process->user);
      std::free(spec.process->cwd);
      std::free(spec.process);
    }
    free_list<c_spec::Mount>(spec.mounts, spec.mounts_len, c_spec::release);
    if (spec.hooks != nullptr) {
      each_hook_list(*spec.hooks, [](c_spec::Hook** items, std::size_t length) {
        free_list<c_spec::Hook>(items, length, free_hook);
      });
    }
    std::free(spec.hooks);
    if (spec.linux != nullptr) free_linux(spec.linux);
  }

  CSpec spec{};
};

/// A record of the model as the view that `apply` gives to editors.
template <class View, class Record>
View view_of(const Record& record) {
  return cdi::copy_as<View>(record);
}

inline void fill_mappings(const std::vector<cdi::oci::IdMapping>& from, IdMapping**& items,
                          std::size_t& length) {
  if (from.empty()) return;
  items = c_spec::make<IdMapping*>(from.size());
  for (const auto& mapping : from) {
    auto* const added = items[length++] = c_spec::make<IdMapping>();
    added->container_id = mapping.container_id;
    added->host_id = mapping.host_id;
    added->size = mapping.size;
  }
}

/// Fills C structs with what the editor can reach.
inline void fill(const Model& model, CSpec& spec) {
  cdi::SpecEditor<CSpec> editor{spec};
  if (model.process) {
    auto& user = c_spec::part(c_spec::part(spec.process).user);
    user.uid = model.process->user.uid;
    user.gid = model.process->user.gid;
    for (const auto& entry : model.process->env) editor.env().append(std::string_view{entry});
    for (const auto gid : model.process->user.additional_gids) editor.additional_gids().append(gid);
  }
  for (const auto& mount : model.mounts) {
    editor.mounts().append(view_of<cdi::oci::MountView>(mount));
  }
  for (std::size_t i = 0; model.hooks && i < cdi::oci::hook_point_names.size(); ++i) {
    const auto point = static_cast<cdi::oci::HookPoint>(i);
    auto hooks = *model.hooks;
    for (const auto& hook : hooks.at(point)) {
      editor.hooks(point).append(view_of<cdi::oci::HookView>(hook));
    }
  }
  if (!model.linux_) return;
  if (model.linux_->resources) {
    for (const auto& rule : model.linux_->resources->devices) {
      editor.device_rules().append(view_of<cdi::oci::LinuxDeviceCgroupView>(rule));
    }
  }
  for (const auto& node : model.linux_->devices) {
    editor.devices().append(view_of<cdi::oci::LinuxDeviceView>(node));
  }
  auto& part = c_spec::part(spec.linux);
  for (const auto& space : model.linux_->namespaces) {
    part.namespaces = static_cast<runtime_spec_schema_defs_linux_namespace_reference**>(
        std::realloc(part.namespaces, (part.namespaces_len + 1) * sizeof(*part.namespaces)));
    auto* const added = c_spec::make<runtime_spec_schema_defs_linux_namespace_reference>();
    added->type = c_spec::copy(space.type);
    part.namespaces[part.namespaces_len++] = added;
  }
  fill_mappings(model.linux_->uid_mappings, part.uid_mappings, part.uid_mappings_len);
  fill_mappings(model.linux_->gid_mappings, part.gid_mappings, part.gid_mappings_len);
}

inline std::vector<std::string> texts(char* const* items, std::size_t length) {
  return {items, items + length};
}

inline cdi::oci::Hook to_hook(const c_spec::Hook& hook) {
  cdi::oci::Hook out{.path = hook.path,
                     .args = texts(hook.args, hook.args_len),
                     .env = texts(hook.env, hook.env_len)};
  if (hook.timeout_present) out.timeout = hook.timeout;
  return out;
}

inline std::vector<cdi::oci::IdMapping> to_mappings(IdMapping* const* items, std::size_t length) {
  std::vector<cdi::oci::IdMapping> out;
  for (std::size_t i = 0; i < length; ++i) {
    out.push_back({.container_id = items[i]->container_id,
                   .host_id = items[i]->host_id,
                   .size = items[i]->size});
  }
  return out;
}

inline cdi::oci::Linux to_linux(const runtime_spec_schema_config_linux& part) {
  cdi::oci::Linux out;
  for (std::size_t i = 0; i < part.devices_len; ++i) {
    const auto& from = *part.devices[i];
    auto& to = out.devices.emplace_back();
    to.path = from.path;
    to.type = from.type;
    to.major = from.major;
    to.minor = from.minor;
    if (from.file_mode_present) to.file_mode = static_cast<std::uint32_t>(from.file_mode);
    if (from.uid_present) to.uid = from.uid;
    if (from.gid_present) to.gid = from.gid;
  }
  for (std::size_t i = 0; part.resources != nullptr && i < part.resources->devices_len; ++i) {
    const auto& from = *part.resources->devices[i];
    auto& all = out.resources ? *out.resources : out.resources.emplace();
    auto& to = all.devices.emplace_back();
    to.allow = from.allow;
    to.type = c_spec::view(from.type);
    to.access = c_spec::view(from.access);
    if (from.major_present) to.major = from.major;
    if (from.minor_present) to.minor = from.minor;
  }
#if C_SPEC_CRUN >= 22
  for (std::size_t i = 0; part.net_devices != nullptr && i < part.net_devices->len; ++i) {
    out.net_devices[part.net_devices->keys[i]].name =
        c_spec::view(part.net_devices->values[i]->name);
  }
#endif
  for (std::size_t i = 0; i < part.namespaces_len; ++i) {
    out.namespaces.push_back({.type = part.namespaces[i]->type});
  }
  out.uid_mappings = to_mappings(part.uid_mappings, part.uid_mappings_len);
  out.gid_mappings = to_mappings(part.gid_mappings, part.gid_mappings_len);
  if (const auto* const rdt = part.intel_rdt; rdt != nullptr) {
    auto& to = out.intel_rdt.emplace();
    to.clos_id = c_spec::view(rdt->clos_id);
#if C_SPEC_CRUN >= 22
    to.schemata = texts(rdt->schemata, rdt->schemata_len);
#endif
    to.l3_cache_schema = c_spec::view(rdt->l3cache_schema);
    to.mem_bw_schema = c_spec::view(rdt->mem_bw_schema);
#if C_SPEC_CRUN >= 24
    to.enable_monitoring = rdt->enable_monitoring;
#else
    to.enable_monitoring = rdt->enable_mbm;
#endif
  }
  return out;
}

inline Model to_model(const CSpec& spec) {
  Model out{};
  if (spec.process != nullptr) {
    auto& process = out.process.emplace();
    process.env = texts(spec.process->env, spec.process->env_len);
    if (const auto* const user = spec.process->user; user != nullptr) {
      process.user.uid = user->uid;
      process.user.gid = user->gid;
      process.user.additional_gids = {user->additional_gids,
                                      user->additional_gids + user->additional_gids_len};
    }
  }
  for (std::size_t i = 0; i < spec.mounts_len; ++i) {
    const auto& mount = *spec.mounts[i];
    auto& to = out.mounts.emplace_back();
    to.destination = mount.destination;
    to.source = c_spec::view(mount.source);
    to.type = c_spec::view(mount.type);
    to.options = texts(mount.options, mount.options_len);
  }
  if (spec.hooks != nullptr) {
    auto& hooks = out.hooks.emplace();
    std::size_t point = 0;
    each_hook_list(*spec.hooks, [&](c_spec::Hook* const* items, std::size_t length) {
      auto& list = hooks.at(static_cast<cdi::oci::HookPoint>(point++));
      for (std::size_t i = 0; i < length; ++i) list.push_back(to_hook(*items[i]));
    });
  }
  if (spec.linux != nullptr) out.linux_ = to_linux(*spec.linux);
  return out;
}

/// Also true of a list that is not there.
template <class T>
inline bool ends_in_null(T* const* items, std::size_t length) {
  return items == nullptr || items[length] == nullptr;
}

inline void check_ends(const runtime_spec_schema_config_schema_hooks& hooks) {
  each_hook_list(hooks, [](c_spec::Hook* const* items, std::size_t length) {
    CHECK(ends_in_null(items, length));
    for (std::size_t i = 0; i < length; ++i) {
      CHECK(ends_in_null(items[i]->args, items[i]->args_len));
      CHECK(ends_in_null(items[i]->env, items[i]->env_len));
    }
  });
}

inline void check_ends(const runtime_spec_schema_config_linux& part) {
  CHECK(ends_in_null(part.devices, part.devices_len));
  CHECK(ends_in_null(part.resources->devices, part.resources->devices_len));
#if C_SPEC_CRUN >= 22
  CHECK(ends_in_null(part.net_devices->keys, part.net_devices->len));
  CHECK(ends_in_null(part.net_devices->values, part.net_devices->len));
  CHECK(ends_in_null(part.intel_rdt->schemata, part.intel_rdt->schemata_len));
#endif
}

}  // namespace c_spec_test
