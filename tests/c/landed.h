// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_H
#define CDI_H
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define CDI_API __attribute__((visibility("default")))
#else
#define CDI_API
#endif
#define CDI_VERSION_MAJOR 0
#define CDI_VERSION_MINOR 1
#define CDI_VERSION_PATCH 0
#define CDI_HAS(type, object, member) \
  ((object)->size >= offsetof(type, member) + sizeof((object)->member))
#if defined(__GNUC__) && !defined(__cplusplus) && !defined(CDI_PLAIN_TEXTS)
typedef union __attribute__((transparent_union)) {
  const char* const* of_constants;
  char* const* of_texts;
} cdi_texts;
#else
typedef const char* const* cdi_texts;
#endif
enum cdi_code {
  CDI_SYNTAX = 1,
  CDI_SCHEMA,
  CDI_INVALID,
  CDI_INVALID_NAME,
  CDI_NOT_FOUND,
  CDI_CONFLICT,
  CDI_UNSUPPORTED,
  CDI_LIMIT,
  CDI_HOST,
  CDI_REFUSED,
  CDI_TIMEOUT,
  CDI_SYSTEM,
  CDI_NO_MEMORY
};
typedef struct cdi_error {
  size_t size;
  enum cdi_code code;
  const char* text;
  const char* message;
  const char* advice;
  const char* where;
  const char* file;
  uint32_t line, column;
  int system;
  const struct cdi_error* next;
} cdi_error;
typedef struct cdi_errors {
  const cdi_error* const* items;
  size_t count;
} cdi_errors;
typedef struct cdi_strings {
  const char* const* items;
  size_t count;
} cdi_strings;
typedef struct cdi_reason {
  size_t size;
  const char* name;
  const char* code;
  const char* text;
  const char* advice;
} cdi_reason;
typedef struct cdi_reasons {
  const cdi_reason* const* items;
  size_t count;
} cdi_reasons;
typedef struct cdi_node {
  size_t size;
  const char* path;
  const char* host_path;
  char type;
  int64_t major, minor;
  bool has_file_mode, has_uid, has_gid;
  uint32_t file_mode, uid, gid;
  const char* access;
  const char* origin;
} cdi_node;
typedef struct cdi_rule {
  size_t size;
  char type;
  const char* access;
  int64_t major, minor;
} cdi_rule;
typedef struct cdi_mount {
  size_t size;
  const char* destination;
  const char* source;
  const char* type;
  cdi_strings options;
  bool is_bind;
  bool read_only;
  const char* origin;
} cdi_mount;
typedef struct cdi_hook {
  size_t size;
  const char* point;
  const char* path;
  cdi_strings args, env;
  bool has_timeout;
  int64_t timeout;
  const char* hook_class;
  const char* origin;
} cdi_hook;
typedef struct cdi_net_device {
  size_t size;
  const char* host_name;
  const char* name;
  const char* origin;
} cdi_net_device;
typedef struct cdi_intel_rdt {
  size_t size;
  const char* clos_id;
  cdi_strings schemata;
  const char* l3_cache_schema;
  const char* mem_bw_schema;
  bool enable_monitoring;
  const char* origin;
} cdi_intel_rdt;
typedef struct cdi_hook_note {
  size_t size;
  const char* hook_class;
  const char* way;
  const char* subject;
  const char* reason;
  const char* origin;
} cdi_hook_note;
typedef struct cdi_edits {
  size_t size;
  cdi_strings env;
  const cdi_node* const* nodes;
  size_t node_count;
  const cdi_rule* const* rules;
  size_t rule_count;
  const cdi_mount* const* mounts;
  size_t mount_count;
  const cdi_hook* const* hooks;
  size_t hook_count;
  const uint32_t* gids;
  size_t gid_count;
  const cdi_net_device* const* net_devices;
  size_t net_device_count;
  const cdi_intel_rdt* intel_rdt;
  const cdi_hook_note* const* notes;
  size_t note_count;
} cdi_edits;
CDI_API void cdi_free(const void* object);
CDI_API const char* cdi_version(void);
typedef struct cdi_cache cdi_cache;
CDI_API cdi_cache* cdi_cache_open(cdi_texts dirs, size_t count, cdi_error** error);
enum cdi_cache_flags {
  CDI_QUARANTINE = 1,
  CDI_REFUSE_WRITABLE = 2,
  CDI_WATCHED = 4,
  CDI_FORGET_INVALID = 8
};
CDI_API cdi_cache* cdi_cache_open_with(cdi_texts dirs, size_t count, uint32_t flags,
                                       cdi_error** error);
CDI_API int cdi_cache_descriptor(cdi_cache* cache, cdi_error** error);
CDI_API int cdi_cache_refresh(cdi_cache* cache, cdi_error** error);
CDI_API cdi_strings* cdi_cache_devices(cdi_cache* cache, cdi_error** error);
CDI_API cdi_errors* cdi_cache_errors(cdi_cache* cache, cdi_error** error);
CDI_API cdi_reasons* cdi_cache_why(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);
CDI_API int cdi_cache_wait(cdi_cache* cache, cdi_texts names, size_t count, uint32_t milliseconds,
                           cdi_error** error);
CDI_API char* cdi_cache_inject_json(cdi_cache* cache, const char* config, cdi_texts names,
                                    size_t count, cdi_error** error);
CDI_API char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, cdi_texts names,
                                          size_t count, cdi_reasons** rest, cdi_error** error);
CDI_API char* cdi_cache_inject_requested(cdi_cache* cache, const char* config, const char* prefix,
                                         const char* variable, uint32_t milliseconds,
                                         cdi_error** error);
CDI_API cdi_edits* cdi_cache_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);
CDI_API cdi_edits* cdi_cache_hookless_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                            const char* image_root, const char* state_dir,
                                            cdi_texts environment, cdi_error** error);
typedef struct cdi_policy cdi_policy;
CDI_API cdi_policy* cdi_policy_open(const char* path, cdi_error** error);
CDI_API cdi_policy* cdi_policy_parse(const char* text, const char* path, cdi_error** error);
CDI_API cdi_cache* cdi_cache_with_policy(cdi_cache* cache, const cdi_policy* policy,
                                         const char* source, cdi_error** error);
CDI_API cdi_strings* cdi_annotated_devices(cdi_texts keys, cdi_texts values, size_t count,
                                           const char* prefix, cdi_error** error);
CDI_API cdi_strings* cdi_requested_devices(const char* config, const char* prefix,
                                           const char* variable, cdi_error** error);
CDI_API cdi_errors* cdi_validate(const char* text, const char* path, cdi_error** error);
typedef struct cdi_publisher cdi_publisher;
CDI_API cdi_publisher* cdi_publisher_open(const char* owner, const char* dir, cdi_error** error);
CDI_API int cdi_publisher_write(cdi_publisher* publisher, const char* name, const char* text,
                                cdi_error** error);
CDI_API int cdi_publisher_remove(cdi_publisher* publisher, const char* name, cdi_error** error);
CDI_API int cdi_publisher_reconcile(cdi_publisher* publisher, cdi_texts names, cdi_texts texts,
                                    size_t count, cdi_errors** unread, cdi_error** error);
#ifdef __cplusplus
}
#endif
#endif
