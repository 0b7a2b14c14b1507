/* The Container Device Interface (CDI) for programs in C: reads spec files, resolves device names,
 * and gives their edits as the text of a config.json or as plain structs. Link with
 * -lcontainer-device-interface-c.
 *
 * Every function may be called from any thread; none is a cancellation point. Objects and results
 * live until cdi_free; const pointers in a result live as long as it. Text is UTF-8 that ends with
 * a NUL byte.
 *
 * A function that fails returns NULL or -1. If `error` is not NULL, *error is then an error, which
 * the caller frees, and otherwise NULL. Nothing else is changed, but see cdi_publisher.
 * Some functions report several errors: the others follow the first, by its member `next`.
 *
 * A later release may add members at the end of a struct that begins with `size`, and changes
 * nothing else. The library makes these structs, and lists have pointers to them: their size is
 * not part of a program. Ask CDI_HAS before you read a member that older releases do not have.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CDI_H
#define CDI_H
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header /* gcc -pedantic would refuse arguments of the type cdi_texts */
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

/* Whether the library knows a member of a struct, such as CDI_HAS(cdi_node, node, host_path). The
 * members up to 0.1.0 are always there. */
#define CDI_HAS(type, object, member) \
  ((object)->size >= offsetof(type, member) + sizeof((object)->member))

/* An array of texts: char**, const char** or const char* const*, without a cast in C and C++. Other
 * C compilers than gcc and clang, and cgo, which needs -DCDI_PLAIN_TEXTS, take only the last one.
 */
#if defined(__GNUC__) && !defined(__cplusplus) && !defined(CDI_PLAIN_TEXTS)
typedef union __attribute__((transparent_union)) {
  const char* const* of_constants;
  char* const* of_texts;
} cdi_texts;
#else
typedef const char* const* cdi_texts;
#endif

/* The kinds of errors. More may come with a release. */
enum cdi_code {
  CDI_SYNTAX = 1,   /* the text is not JSON or YAML */
  CDI_SCHEMA,       /* an unknown, missing or wrong member */
  CDI_INVALID,      /* a rule of CDI is broken, or an argument cannot be used */
  CDI_INVALID_NAME, /* not a valid vendor.com/class=device */
  CDI_NOT_FOUND,    /* no spec provides the device */
  CDI_CONFLICT,     /* two specs of equal priority provide it; or a file has another owner */
  CDI_UNSUPPORTED,  /* the OCI spec or the CDI version has no place for this */
  CDI_LIMIT,        /* the text is too large or too deep */
  CDI_HOST,         /* the host has no such device node, or a different one */
  CDI_REFUSED,      /* a policy forbids it */
  CDI_TIMEOUT,      /* the deadline has passed */
  CDI_SYSTEM,       /* a system call failed: see `system` */
  CDI_NO_MEMORY     /* memory is exhausted */
};

typedef struct cdi_error {
  size_t size; /* of the struct, in bytes: see CDI_HAS; also in the other structs */
  enum cdi_code code;
  const char* text;    /* what is wrong and where: file, line, column, member, message */
  const char* message; /* what is wrong */
  const char* advice;  /* what to do; "" if it is not known. It is not in `text` and `message` */
  /* The place of the error; for a name that does not resolve, of the first cause: of the member,
   * such as devices[0].containerEdits.env[1], or "". */
  const char* where;
  const char* file; /* or "" */
  uint32_t line;    /* from 1; 0 if it is not known */
  uint32_t column;  /* from 1, in bytes; 0 if it is not known */
  int system;       /* the errno value of a system call, or 0 */
  /* Another error of the same call, or NULL. It is freed with the first. */
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

/* Why a name does not resolve. */
typedef struct cdi_reason {
  size_t size;
  const char* name;
  const char* code;   /* for programs, such as "unknown-device": see `cdi why --help` */
  const char* text;   /* in words */
  const char* advice; /* what to do */
} cdi_reason;

typedef struct cdi_reasons {
  const cdi_reason* const* items;
  size_t count;
} cdi_reasons;

/* The edits of devices, in the terms of the OCI runtime spec, for a container that is empty: its
 * process is root, it has no user namespace, and /dev, /proc and /sys of its own. Text that is
 * absent is "". `origin` is where an edit comes from, such as
 * "vendor.com/gpu=0 (/etc/cdi/vendor.yaml:12)", for logs.
 *
 * cdi_cache_inject_json merges them into a container like this:
 * - A variable replaces the last one of its name.
 * - The first node of a path is removed; the new one replaces the next of its path, or is appended.
 *   A node without uid or gid gets the uid or gid of the process.
 * - The first mount of a destination is removed, and the new one appended. Then all mounts are
 *   sorted by the number of parts of the destination; equal ones keep their order. With a user
 *   namespace, a bind mount gets the option idmap or ridmap.
 * - Rules and hooks are appended; a group is appended if it is missing.
 * - A net device replaces the one of its host name; Intel RDT settings replace all others.
 * - A node, mount or hook that the container has already is not added: that one stays. The same is
 *   true of rules if the container has a node with the path of one of the new nodes.
 *
 * A program that cannot make nodes or run hooks (bwrap, flatpak) binds `host_path` over `path`, and
 * makes `root_changes` instead of the hooks that are `lowered`. */

typedef struct cdi_node {
  size_t size;
  const char* path;      /* in the container */
  const char* host_path; /* on the host; the same as `path` unless the spec has another one */
  char type;             /* 'b', 'c', 'u' or 'p' */
  int64_t major, minor;  /* of the host, filled in */
  bool has_file_mode, has_uid, has_gid;
  uint32_t file_mode, uid, gid;
  const char* access; /* such as "rwm", or "" for none: what the device cgroup should allow */
  const char* origin;
} cdi_node;

/* A rule of the device cgroup, which allows access. A node has one or none: two nodes may have the
 * same number, and a node that another replaced keeps its rule. */
typedef struct cdi_rule {
  size_t size;
  char type;          /* 'b' or 'c' */
  const char* access; /* such as "rwm", or "" for none */
  int64_t major, minor;
} cdi_rule;

typedef struct cdi_mount {
  size_t size;
  const char* destination;
  const char* source;
  const char* type;
  cdi_strings options;
  bool is_bind;   /* by its options: of "bind" and "rbind" it has one */
  bool read_only; /* by its options: the last of "ro" and "rw" counts */
  const char* origin;
} cdi_mount;

typedef struct cdi_hook {
  size_t size;
  const char* point; /* such as "createContainer" */
  const char* path;
  cdi_strings args, env;
  bool has_timeout;
  int64_t timeout;        /* in seconds */
  const char* hook_class; /* what it does, such as "symlinks"; "foreign" if that is not known */
  bool lowered;           /* whether `root_changes` has what it does, so that it need not run */
  cdi_strings variables;  /* a lowered hook must run if the container has one of these, by name */
  const char* why_kept;   /* why it is not lowered, or "" */
  const char* origin;
} cdi_hook;

typedef struct cdi_net_device {
  size_t size;
  const char* host_name;
  const char* name; /* in the container */
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

/* A symbolic link in the container, which replaces a file or link of its path. Directories above a
 * link or file are created when they are missing. */
typedef struct cdi_link {
  size_t size;
  const char* path;
  const char* target; /* its text, which may be relative */
} cdi_link;

typedef struct cdi_mode {
  size_t size;
  size_t mode;      /* the permission bits */
  const char* path; /* nothing is done when it is missing */
} cdi_mode;

/* A text file with mode 0444, which replaces a file of its path. */
typedef struct cdi_file {
  size_t size;
  const char* path;
  const char* text;
} cdi_file;

/* A folder of the image with a CUDA driver library. It comes first in the linker's folders if it is
 * newer than the driver of the host. */
typedef struct cdi_cuda_compat {
  size_t size;
  const char* folder;
  const char* host_driver_version; /* such as "570.195.03", or "" */
  const char* host_cuda_version;   /* such as "12.8", or "" */
} cdi_cuda_compat;

/* What the hooks do that are lowered. All paths are in the container. */
typedef struct cdi_root_changes {
  size_t size;
  /* Before the container starts, in the root, below all mounts. */
  const cdi_link* const* links;
  size_t link_count;
  const cdi_mode* const* modes;
  size_t mode_count;
  const cdi_file* const* files;
  size_t file_count;
  const cdi_cuda_compat* const* cuda_compat;
  size_t cuda_compat_count;
  /* For the dynamic linker: in ld.so.conf.d, or in LD_LIBRARY_PATH. */
  cdi_strings library_folders;
  /* Whether ldconfig must run after the mounts, unless LD_LIBRARY_PATH has the folders; and which
   * program of the host, or "" for the usual one. */
  bool needs_ldconfig;
  const char* ldconfig;
  /* Links in /dev to nodes. Where /dev is a new one, each is another node, with the host path of
   * the node `target`. */
  const cdi_link* const* node_links;
  size_t node_link_count;
  /* A file to bind, read-only, after the mounts; or NULL. It is in /proc. */
  const cdi_file* params;
} cdi_root_changes;

typedef struct cdi_edits {
  size_t size;
  cdi_strings env; /* NAME=value */
  const cdi_node* const* nodes;
  size_t node_count;
  const cdi_rule* const* rules;
  size_t rule_count;
  const cdi_mount* const* mounts; /* in the order in which to mount them */
  size_t mount_count;
  const cdi_hook* const* hooks; /* for each point, in the order in which to run them */
  size_t hook_count;
  const uint32_t* gids; /* additional groups of the process */
  size_t gid_count;
  const cdi_net_device* const* net_devices;
  size_t net_device_count;
  const cdi_intel_rdt* intel_rdt;       /* or NULL */
  const cdi_root_changes* root_changes; /* never NULL */
} cdi_edits;

/* Frees any object, result or error of this library. NULL is ignored. */
CDI_API void cdi_free(const void* object);

/* The release of the library, such as "0.1.0". Not freed. */
CDI_API const char* cdi_version(void);

/* Spec directories, up to date at each call. */
typedef struct cdi_cache cdi_cache;

/* A cache of directories, from the lowest priority to the highest; of /etc/cdi and /var/run/cdi
 * when `count` is 0. A missing directory may be created later. Reads nothing yet. */
CDI_API cdi_cache* cdi_cache_open(cdi_texts dirs, size_t count, cdi_error** error);

/* How a cache works: a sum of these, or 0. */
enum cdi_cache_flags {
  CDI_QUARANTINE = 1,      /* skips an invalid device, and keeps the others of its file */
  CDI_REFUSE_WRITABLE = 2, /* refuses files and directories that other users may write */
  CDI_WATCHED = 4          /* notices changes by inotify, with a descriptor, and not by stat */
};

/* Opens a cache with flags. A flag that the library does not know is CDI_UNSUPPORTED. */
CDI_API cdi_cache* cdi_cache_open_with(cdi_texts dirs, size_t count, uint32_t flags,
                                       cdi_error** error);

/* With CDI_WATCHED, a descriptor that is readable (poll, epoll) when files may have changed; then,
 * and once a second, call a function of the cache. Never read from it; it is closed with the last
 * of the caches that share it. Fails with CDI_SYSTEM without inotify: each call then checks. */
CDI_API int cdi_cache_descriptor(cdi_cache* cache, cdi_error** error);

/* Checks all directories and files, and reads again what changed. */
CDI_API int cdi_cache_refresh(cdi_cache* cache, cdi_error** error);

/* The qualified names of all devices, sorted. */
CDI_API cdi_strings* cdi_cache_devices(cdi_cache* cache, cdi_error** error);

/* Why files and devices are not used. */
CDI_API cdi_errors* cdi_cache_errors(cdi_cache* cache, cdi_error** error);

/* Why names do not resolve; none when all do. */
CDI_API cdi_reasons* cdi_cache_why(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);

/* Waits until all names resolve; at most so many milliseconds, then CDI_TIMEOUT. Fails at once for
 * a name that is not valid, and for an unknown device of a kind that exists, unless a file that may
 * define it changed in the last second or cannot be read. */
CDI_API int cdi_cache_wait(cdi_cache* cache, cdi_texts names, size_t count, uint32_t milliseconds,
                           cdi_error** error);

/* The text of a config.json with the devices injected, all or none. Bytes that the edits do not
 * change are as they were. Without names, the text is returned unchecked. */
CDI_API char* cdi_cache_inject_json(cdi_cache* cache, const char* config, cdi_texts names,
                                    size_t count, cdi_error** error);

/* Injects the devices that resolve. If `rest` is not NULL, *rest then has a reason for each other
 * name, and is freed by the caller. */
CDI_API char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, cdi_texts names,
                                          size_t count, cdi_reasons** rest, cdi_error** error);

/* Injects the devices that the config asks for, in annotations and in a variable with a selector:
 * see cdi_requested_devices. Waits at most so many milliseconds until all resolve, as
 * cdi_cache_wait does; 0 does not wait. If the cache has a policy and no `source`, the source of a
 * request is the annotation or the variable. A config without requests is returned as it is. */
CDI_API char* cdi_cache_inject_requested(cdi_cache* cache, const char* config, const char* prefix,
                                         const char* variable, uint32_t milliseconds,
                                         cdi_error** error);

/* The edits of devices, for a runtime that fills structs of its own. */
CDI_API cdi_edits* cdi_cache_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);

/* Which devices may be injected, and what their edits may do: see docs/policy.md. */
typedef struct cdi_policy cdi_policy;

/* The policy of a JSON file. */
CDI_API cdi_policy* cdi_policy_open(const char* path, cdi_error** error);

/* The policy of a JSON text; `path` names it in errors, and may be NULL. */
CDI_API cdi_policy* cdi_policy_parse(const char* text, const char* path, cdi_error** error);

/* A cache of the same directories under a policy, which replaces the policy of `cache`. If it
 * denies a device, cdi_cache_inject_json, cdi_cache_inject_resolvable, cdi_cache_inject_requested
 * and cdi_cache_edits fail with an error for each reason, all CDI_REFUSED. Hooks without an
 * environment get one with a PATH. `source` is where requests come from: "field", "annotation",
 * "variable" or "commandLine", or NULL. `cache` and `policy` may be freed before the result. */
CDI_API cdi_cache* cdi_cache_with_policy(cdi_cache* cache, const cdi_policy* policy,
                                         const char* source, cdi_error** error);

/* The devices that the annotations of a container request, each once; `prefix` begins their keys,
 * or is NULL for "cdi.k8s.io/". */
CDI_API cdi_strings* cdi_annotated_devices(cdi_texts keys, cdi_texts values, size_t count,
                                           const char* prefix, cdi_error** error);

/* The devices that the text of a config.json asks for, each once: in its annotations, as
 * cdi_annotated_devices has them, and in the environment variable `variable` of its process, such
 * as "VISIBLE_CDI_DEVICES"; NULL for none. The value of the variable is no list of names but a
 * selector, such as "vendor.com/gpu=0,1:vendor.com/nic=all": for each kind, indices or all. */
CDI_API cdi_strings* cdi_requested_devices(const char* config, const char* prefix,
                                           const char* variable, cdi_error** error);

/* Checks the text of a spec file, JSON or YAML; `path` names it in errors, and may be NULL. Returns
 * the warnings, such as for YAML text whose path ends in .json. */
CDI_API cdi_errors* cdi_validate(const char* text, const char* path, cdi_error** error);

/* The spec files of one owner in one directory. A call that fails may have created the directory.
 * After a change the directory is synced: when only that fails, the files are changed. */
typedef struct cdi_publisher cdi_publisher;

/* A publisher. `owner` is the name of the program that decides which files exist; `dir` may be NULL
 * for /var/run/cdi, and is created by the first write when it is missing. */
CDI_API cdi_publisher* cdi_publisher_open(const char* owner, const char* dir, cdi_error** error);

/* Writes a spec, given as JSON or YAML, to the file `name`, which ends in .json or .yaml. After a
 * kill at any moment the file is the old or the new one. */
CDI_API int cdi_publisher_write(cdi_publisher* publisher, const char* name, const char* text,
                                cdi_error** error);

/* Removes the file `name` of this owner. A missing file is not an error. */
CDI_API int cdi_publisher_remove(cdi_publisher* publisher, const char* name, cdi_error** error);

/* Writes the files with these names and texts, and removes all other files of this owner. All texts
 * are checked first. When the system refuses files, the others are written, and each has an error:
 * see `next`; if a file cannot be written, none is removed. A file whose owner cannot be read
 * stays; that is an error only if its name is one of these. If `unread` is not NULL, *unread then
 * says why such files cannot be read, and is freed by the caller; NULL after an error. */
CDI_API int cdi_publisher_reconcile(cdi_publisher* publisher, cdi_texts names, cdi_texts texts,
                                    size_t count, cdi_errors** unread, cdi_error** error);

#ifdef __cplusplus
}
#endif
#endif /* CDI_H */
