/* An OCI runtime spec as C structs, with the layout and names that libocispec generates: the parts
 * that CDI edits, and the functions that free these parts. A program with libocispec includes the
 * headers of libocispec instead, whose structs have more members. C_SPEC_CRUN, the minor version of
 * crun, such as 8, selects the layout of that release.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef CDI_EXAMPLES_EDITORS_C_SPEC_H
#define CDI_EXAMPLES_EDITORS_C_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#undef linux

#ifndef C_SPEC_CRUN
#define C_SPEC_CRUN 24
#endif

/* All memory comes from malloc. A list is an array of pointers and a length; an optional number has
 * a bit that says whether the number is present. */

typedef struct {
  char* path;
  char* type;
  int64_t major;
  int64_t minor;
  int file_mode;
  uid_t uid;
  gid_t gid;
  unsigned int major_present : 1;
  unsigned int minor_present : 1;
  unsigned int file_mode_present : 1;
  unsigned int uid_present : 1;
  unsigned int gid_present : 1;
} runtime_spec_schema_defs_linux_device;

static inline void free_runtime_spec_schema_defs_linux_device(
    runtime_spec_schema_defs_linux_device* ptr) {
  if (ptr == NULL) return;
  free(ptr->path);
  free(ptr->type);
  free(ptr);
}

typedef struct {
  bool allow;
  char* type;
  int64_t major;
  int64_t minor;
  char* access;
  unsigned int allow_present : 1;
  unsigned int major_present : 1;
  unsigned int minor_present : 1;
} runtime_spec_schema_defs_linux_device_cgroup;

typedef struct {
  char* destination;
  char* source;
  char** options;
  size_t options_len;
  char* type;
} runtime_spec_schema_defs_mount;

static inline void free_runtime_spec_schema_defs_mount(runtime_spec_schema_defs_mount* ptr) {
  if (ptr == NULL) return;
  free(ptr->destination);
  free(ptr->source);
  for (size_t i = 0; i < ptr->options_len; ++i) free(ptr->options[i]);
  free(ptr->options);
  free(ptr->type);
  free(ptr);
}

typedef struct {
  char* path;
  char** args;
  size_t args_len;
  char** env;
  size_t env_len;
  int timeout;
  unsigned int timeout_present : 1;
} runtime_spec_schema_defs_hook;

typedef struct {
  char* type;
  char* path;
} runtime_spec_schema_defs_linux_namespace_reference;

typedef struct {
  uint32_t container_id;
  uint32_t host_id;
  uint32_t size;
  unsigned int container_id_present : 1;
  unsigned int host_id_present : 1;
  unsigned int size_present : 1;
} runtime_spec_schema_defs_id_mapping;

typedef struct {
  runtime_spec_schema_defs_linux_device_cgroup** devices;
  size_t devices_len;
} runtime_spec_schema_config_linux_resources;

typedef struct {
  char* clos_id;
#if C_SPEC_CRUN >= 22
  char** schemata;
  size_t schemata_len;
#endif
  char* l3cache_schema;
  char* mem_bw_schema;
#if C_SPEC_CRUN >= 24
  bool enable_monitoring;
  unsigned int enable_monitoring_present : 1;
#else
  bool enable_cmt;
  bool enable_mbm;
  unsigned int enable_cmt_present : 1;
  unsigned int enable_mbm_present : 1;
#endif
} runtime_spec_schema_config_linux_intel_rdt;

static inline void free_runtime_spec_schema_config_linux_intel_rdt(
    runtime_spec_schema_config_linux_intel_rdt* ptr) {
  if (ptr == NULL) return;
  free(ptr->clos_id);
#if C_SPEC_CRUN >= 22
  for (size_t i = 0; i < ptr->schemata_len; ++i) free(ptr->schemata[i]);
  free(ptr->schemata);
#endif
  free(ptr->l3cache_schema);
  free(ptr->mem_bw_schema);
  free(ptr);
}

#if C_SPEC_CRUN >= 22
typedef struct {
  char* name;
} runtime_spec_schema_defs_linux_net_device;

static inline void free_runtime_spec_schema_defs_linux_net_device(
    runtime_spec_schema_defs_linux_net_device* ptr) {
  if (ptr == NULL) return;
  free(ptr->name);
  free(ptr);
}

typedef struct {
  char** keys;
  runtime_spec_schema_defs_linux_net_device** values;
  size_t len;
} runtime_spec_schema_config_linux_net_devices;
#endif

typedef struct {
  runtime_spec_schema_defs_linux_device** devices;
  size_t devices_len;
#if C_SPEC_CRUN >= 22
  runtime_spec_schema_config_linux_net_devices* net_devices;
#endif
  runtime_spec_schema_defs_id_mapping** uid_mappings;
  size_t uid_mappings_len;
  runtime_spec_schema_defs_id_mapping** gid_mappings;
  size_t gid_mappings_len;
  runtime_spec_schema_defs_linux_namespace_reference** namespaces;
  size_t namespaces_len;
  runtime_spec_schema_config_linux_resources* resources;
  runtime_spec_schema_config_linux_intel_rdt* intel_rdt;
} runtime_spec_schema_config_linux;

typedef struct {
  uid_t uid;
  gid_t gid;
  gid_t* additional_gids;
  size_t additional_gids_len;
  unsigned int uid_present : 1;
  unsigned int gid_present : 1;
} runtime_spec_schema_config_schema_process_user;

typedef struct {
  char* cwd;
  char** env;
  size_t env_len;
  runtime_spec_schema_config_schema_process_user* user;
} runtime_spec_schema_config_schema_process;

typedef struct {
  runtime_spec_schema_defs_hook** prestart;
  size_t prestart_len;
  runtime_spec_schema_defs_hook** create_runtime;
  size_t create_runtime_len;
  runtime_spec_schema_defs_hook** create_container;
  size_t create_container_len;
  runtime_spec_schema_defs_hook** start_container;
  size_t start_container_len;
  runtime_spec_schema_defs_hook** poststart;
  size_t poststart_len;
  runtime_spec_schema_defs_hook** poststop;
  size_t poststop_len;
} runtime_spec_schema_config_schema_hooks;

typedef struct {
  char* oci_version;
  runtime_spec_schema_config_schema_process* process;
  runtime_spec_schema_defs_mount** mounts;
  size_t mounts_len;
  runtime_spec_schema_config_schema_hooks* hooks;
  runtime_spec_schema_config_linux* linux;
} runtime_spec_schema_config_schema;

#endif /* CDI_EXAMPLES_EDITORS_C_SPEC_H */
