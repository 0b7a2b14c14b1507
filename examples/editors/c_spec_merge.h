/* Merges the edits that cdi_cache_edits returns into the structs of libocispec, for crun and other
 * programs in C, as cdi_cache_inject_json does with the text of a config. First include cdi/cdi.h
 * and <ocispec/runtime_spec_schema_config_schema.h>, or c_spec.h. For crun before 1.24, whose
 * structs have fewer members, define C_SPEC_CRUN as the minor version, such as 8.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_H
#define CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_H

#include <errno.h>

#include "c_spec_merge_records.h"

static inline bool merge_env(runtime_spec_schema_config_schema_process* process,
                             const char* entry) {
  const size_t name = strcspn(entry, "=");
  char* made = NULL;
  if (!merge_copy(entry, &made)) return false;
  for (size_t i = process->env_len; i-- > 0;) {
    if (strncmp(process->env[i], entry, name) != 0) continue;
    if (process->env[i][name] != '=' && process->env[i][name] != '\0') continue;
    free(process->env[i]);
    process->env[i] = made;
    return true;
  }
  MERGE_APPEND(process->env, process->env_len, made);
  const bool good = made == NULL;
  free(made);
  return good;
}

/* Adds a node, unless the container already has an equal one. The first old node with this path is
 * removed; the new node replaces the second, or is appended. */
static inline bool merge_node(runtime_spec_schema_config_linux* to,
                              runtime_spec_schema_defs_linux_device* made) {
  if (made == NULL) return false;
  bool removed = false;
  for (size_t i = 0; i < to->devices_len; ++i) {
    if (!merge_same_nodes(to->devices[i], made)) continue;
    free_runtime_spec_schema_defs_linux_device(made);
    return true;
  }
  for (size_t i = 0; i < to->devices_len; ++i) {
    if (!merge_is_same(to->devices[i]->path, made->path)) continue;
    free_runtime_spec_schema_defs_linux_device(to->devices[i]);
    if (removed) {
      to->devices[i] = made;
      return true;
    }
    removed = true;
    MERGE_REMOVE(to->devices, to->devices_len, i);
    --i;
  }
  MERGE_APPEND(to->devices, to->devices_len, made);
  if (made == NULL) return true;
  free_runtime_spec_schema_defs_linux_device(made);
  return false;
}

/* Adds a rule, unless one of the first `old` rules is equal. */
static inline bool merge_rule(runtime_spec_schema_config_linux_resources* to, const cdi_rule* rule,
                              size_t old) {
  const char type[] = {rule->type, '\0'};
  for (size_t i = 0; i < old; ++i) {
    const runtime_spec_schema_defs_linux_device_cgroup* other = to->devices[i];
    if (other->allow && merge_is_same(other->type, type) && other->major_present &&
        other->major == rule->major && other->minor_present && other->minor == rule->minor &&
        merge_is_same(other->access, rule->access)) {
      return true;
    }
  }
  runtime_spec_schema_defs_linux_device_cgroup* made = calloc(1, sizeof *made);
  if (made == NULL) return false;
  made->allow = true;
  made->allow_present = made->major_present = made->minor_present = 1;
  made->major = rule->major;
  made->minor = rule->minor;
  if (merge_copy(type, &made->type) && merge_copy(rule->access, &made->access)) {
    MERGE_APPEND(to->devices, to->devices_len, made);
    if (made == NULL) return true;
  }
  free(made->type);
  free(made->access);
  free(made);
  return false;
}

static inline bool merge_nodes(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  const runtime_spec_schema_config_schema_process_user* user =
      spec->process == NULL ? NULL : spec->process->user;
  if (edits->node_count == 0 && edits->rule_count == 0) return true;
  if (MERGE_PART(spec->linux) == NULL) return false;
  runtime_spec_schema_config_linux* to = spec->linux;
  bool is_known = false; /* whether the container may have these edits */
  for (size_t i = 0; i < edits->node_count; ++i) {
    for (size_t k = 0; k < to->devices_len; ++k) {
      is_known = is_known || merge_is_same(to->devices[k]->path, edits->nodes[i]->path);
    }
  }
  for (size_t i = 0; i < edits->node_count; ++i) {
    if (!merge_node(to, merge_make_node(edits->nodes[i], user))) return false;
  }
  if (edits->rule_count == 0) return true;
  if (MERGE_PART(to->resources) == NULL) return false;
  const size_t old = is_known ? to->resources->devices_len : 0;
  for (size_t i = 0; i < edits->rule_count; ++i) {
    if (!merge_rule(to->resources, edits->rules[i], old)) return false;
  }
  return true;
}

/* Adds a mount, unless the container has it; removes the first mount over its destination. */
static inline bool merge_mount(runtime_spec_schema_config_schema* to,
                               runtime_spec_schema_defs_mount* made) {
  size_t same = to->mounts_len;
  if (made == NULL) return false;
  for (size_t i = to->mounts_len; i-- > 0;) {
    runtime_spec_schema_defs_mount* other = to->mounts[i];
    if (!merge_is_same(other->destination, made->destination)) continue;
    same = i;
    if (merge_is_same(other->source, made->source) && merge_is_same(other->type, made->type) &&
        merge_are_same(other->options, other->options_len, made->options, made->options_len)) {
      free_runtime_spec_schema_defs_mount(made);
      return true;
    }
  }
  if (same < to->mounts_len) {
    free_runtime_spec_schema_defs_mount(to->mounts[same]);
    MERGE_REMOVE(to->mounts, to->mounts_len, same);
  }
  MERGE_APPEND(to->mounts, to->mounts_len, made);
  if (made == NULL) return true;
  free_runtime_spec_schema_defs_mount(made);
  return false;
}

/* Returns how many slashes a path has without "//", "/./", "/../" and a final "/". */
static inline size_t merge_depth(const char* path) {
  size_t parts = 0;
  const bool absolute = *path == '/';
  while (*path != '\0') {
    const size_t length = strcspn(path, "/");
    const bool up = length == 2 && strncmp(path, "..", 2) == 0;
    if (up && parts > 0) --parts;
    if (length != 0 && !up && !(length == 1 && *path == '.')) ++parts;
    path += length + (path[length] == '/');
  }
  if (absolute) return parts == 0 ? 1 : parts;
  return parts == 0 ? 0 : parts - 1;
}

/* Whether the container has a user namespace, and mappings of user and group ids. */
static inline bool merge_maps_ids(const runtime_spec_schema_config_linux* part) {
  if (part == NULL || part->uid_mappings_len == 0 || part->gid_mappings_len == 0) return false;
  for (size_t i = 0; i < part->namespaces_len; ++i) {
    if (merge_is_same(part->namespaces[i]->type, "user")) return true;
  }
  return false;
}

static inline bool merge_mounts(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  const bool maps_ids = merge_maps_ids(spec->linux);
  for (size_t i = 0; i < edits->mount_count; ++i) {
    if (!merge_mount(spec, merge_make_mount(edits->mounts[i], maps_ids))) return false;
  }
  for (size_t i = 1; edits->mount_count != 0 && i < spec->mounts_len; ++i) {
    runtime_spec_schema_defs_mount* mount = spec->mounts[i];
    const size_t depth = merge_depth(mount->destination);
    size_t to = i;
    for (; to > 0 && merge_depth(spec->mounts[to - 1]->destination) > depth; --to) {
      spec->mounts[to] = spec->mounts[to - 1];
    }
    spec->mounts[to] = mount;
  }
  return true;
}

/* Adds a hook to the list of its point, unless one of the first `old` hooks is equal. */
static inline bool merge_hook(runtime_spec_schema_defs_hook*** items, size_t* length, size_t old,
                              runtime_spec_schema_defs_hook* made) {
  if (made == NULL) return false;
  for (size_t i = 0; i < old; ++i) {
    if (!merge_same_hooks((*items)[i], made)) continue;
    merge_free_hook(made);
    return true;
  }
  MERGE_APPEND(*items, *length, made);
  if (made == NULL) return true;
  merge_free_hook(made);
  return false;
}

static inline bool merge_hooks(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  if (edits->hook_count == 0) return true;
  if (MERGE_PART(spec->hooks) == NULL) return false;
  runtime_spec_schema_config_schema_hooks* to = spec->hooks;
  const struct {
    const char* name;
    runtime_spec_schema_defs_hook*** items;
    size_t* length;
    size_t old;
  } points[] = {
      {"prestart", &to->prestart, &to->prestart_len, to->prestart_len},
      {"createRuntime", &to->create_runtime, &to->create_runtime_len, to->create_runtime_len},
      {"createContainer", &to->create_container, &to->create_container_len,
       to->create_container_len},
      {"startContainer", &to->start_container, &to->start_container_len, to->start_container_len},
      {"poststart", &to->poststart, &to->poststart_len, to->poststart_len},
      {"poststop", &to->poststop, &to->poststop_len, to->poststop_len},
  };
  for (size_t i = 0; i < edits->hook_count; ++i) {
    for (size_t k = 0; k < sizeof points / sizeof *points; ++k) {
      if (strcmp(points[k].name, edits->hooks[i]->point) != 0) continue;
      if (!merge_hook(points[k].items, points[k].length, points[k].old,
                      merge_make_hook(edits->hooks[i]))) {
        return false;
      }
    }
  }
  return true;
}

static inline bool merge_process(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  if (edits->env.count == 0 && edits->gid_count == 0) return true;
  if (MERGE_PART(spec->process) == NULL) return false;
  runtime_spec_schema_config_schema_process* to = spec->process;
  if (to->cwd == NULL && (to->cwd = calloc(1, 1)) == NULL) return false; /* OCI requires it */
  for (size_t i = 0; i < edits->env.count; ++i) {
    if (!merge_env(to, edits->env.items[i])) return false;
  }
  if (edits->gid_count == 0) return true;
  if (MERGE_PART(to->user) == NULL) return false;
  runtime_spec_schema_config_schema_process_user* user = to->user;
  for (size_t i = 0; i < edits->gid_count; ++i) {
    size_t at = 0;
    while (at < user->additional_gids_len && user->additional_gids[at] != edits->gids[i]) ++at;
    if (at < user->additional_gids_len) continue;
    gid_t* larger = realloc(user->additional_gids, (at + 1) * sizeof *larger);
    if (larger == NULL) return false;
    user->additional_gids = larger;
    user->additional_gids[user->additional_gids_len++] = edits->gids[i];
  }
  return true;
}

#if C_SPEC_CRUN >= 22
static inline bool merge_net_device(runtime_spec_schema_config_linux_net_devices* to,
                                    const cdi_net_device* device) {
  runtime_spec_schema_defs_linux_net_device* made = calloc(1, sizeof *made);
  char* key = NULL;
  size_t keys = to->len;
  if (made == NULL || !merge_copy(device->name, &made->name)) goto failed;
  for (size_t i = 0; i < to->len; ++i) {
    if (strcmp(to->keys[i], device->host_name) != 0) continue;
    free_runtime_spec_schema_defs_linux_net_device(to->values[i]);
    to->values[i] = made;
    return true;
  }
  if (!merge_copy(device->host_name, &key)) goto failed;
  MERGE_APPEND(to->keys, keys, key);
  if (key != NULL) goto failed;
  MERGE_APPEND(to->values, to->len, made);
  if (made == NULL) return true;
  free(to->keys[to->len]);
  to->keys[to->len] = NULL;
failed:
  free(key);
  free_runtime_spec_schema_defs_linux_net_device(made);
  return false;
}

static inline bool merge_intel_rdt(runtime_spec_schema_config_linux* to,
                                   const cdi_intel_rdt* settings) {
  runtime_spec_schema_config_linux_intel_rdt* made = calloc(1, sizeof *made);
  if (made == NULL) return false;
#if C_SPEC_CRUN >= 24
  made->enable_monitoring = settings->enable_monitoring;
  made->enable_monitoring_present = settings->enable_monitoring;
#else
  made->enable_cmt = made->enable_mbm = settings->enable_monitoring;
  made->enable_cmt_present = made->enable_mbm_present = settings->enable_monitoring;
#endif
  if (merge_copy(settings->clos_id, &made->clos_id) &&
      merge_copy(settings->l3_cache_schema, &made->l3cache_schema) &&
      merge_copy(settings->mem_bw_schema, &made->mem_bw_schema) &&
      merge_copies(settings->schemata, &made->schemata, &made->schemata_len)) {
    free_runtime_spec_schema_config_linux_intel_rdt(to->intel_rdt);
    to->intel_rdt = made;
    return true;
  }
  free_runtime_spec_schema_config_linux_intel_rdt(made);
  return false;
}

static inline bool merge_new_parts(runtime_spec_schema_config_schema* spec,
                                   const cdi_edits* edits) {
  if (edits->net_device_count == 0 && edits->intel_rdt == NULL) return true;
  if (MERGE_PART(spec->linux) == NULL) return false;
  if (edits->net_device_count != 0 && MERGE_PART(spec->linux->net_devices) == NULL) return false;
  for (size_t i = 0; i < edits->net_device_count; ++i) {
    if (!merge_net_device(spec->linux->net_devices, edits->net_devices[i])) return false;
  }
  return edits->intel_rdt == NULL || merge_intel_rdt(spec->linux, edits->intel_rdt);
}
#else
static inline bool merge_new_parts(runtime_spec_schema_config_schema* spec,
                                   const cdi_edits* edits) {
  return spec != NULL && edits->net_device_count == 0 && edits->intel_rdt == NULL;
}
#endif

/* Merges edits into a spec. Returns 0, or an errno value: ENOTSUP, before any change, if libocispec
 * has no place for net devices or Intel RDT; or ENOMEM, after which the spec may hold some of the
 * edits, and can be freed. */
static inline int c_spec_merge(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  if (C_SPEC_CRUN < 22 && !merge_new_parts(spec, edits)) return ENOTSUP;
  const bool good = merge_nodes(spec, edits) && merge_mounts(spec, edits) &&
                    merge_hooks(spec, edits) && merge_process(spec, edits) &&
                    merge_new_parts(spec, edits);
  return good ? 0 : ENOMEM;
}

#endif /* CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_H */
