/* The Container Device Interface (CDI) for programs in C: reads spec files, resolves device names,
 * and returns their edits as the text of a config.json or as plain structs. Link with
 * -lcontainer-device-interface-c.
 *
 * Every function may be called from any thread; none is a cancellation point. Objects and results
 * live until cdi_free; the const pointers in a result live as long as the result. Text is UTF-8 and
 * ends with a NUL byte.
 *
 * A function that fails returns NULL or -1. If `error` is not NULL, *error becomes an error, which
 * the caller frees, or NULL on success. A failure changes nothing else, except in cdi_publisher.
 * If a function reports several errors, `next` links the first error to the others.
 *
 * A later release may add members to the end of a struct that begins with `size`; nothing else will
 * change. Only the library creates these structs, and lists contain pointers to them, so a program
 * does not depend on their size. Check CDI_HAS before reading a member that older releases lack.
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef CDI_H
#define CDI_H
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC system_header /* gcc -pedantic would reject arguments of the type cdi_texts */
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
/* The release of this header; cdi_version returns that of the library. */
#define CDI_VERSION_MAJOR 0
#define CDI_VERSION_MINOR 1
#define CDI_VERSION_PATCH 0

/* Whether the library provides a member of a struct, as in CDI_HAS(cdi_node, node, host_path). The
 * members of release 0.1.0 are always present. */
#define CDI_HAS(type, object, member) \
  ((object)->size >= offsetof(type, member) + sizeof((object)->member))

/* An array of texts: char**, const char** or const char* const*, without a cast in C and C++. C
 * compilers other than gcc and clang accept only the last type, and so does cgo, which needs
 * -DCDI_PLAIN_TEXTS. */
#if defined(__GNUC__) && !defined(__cplusplus) && !defined(CDI_PLAIN_TEXTS)
typedef union __attribute__((transparent_union)) {
  const char* const* of_constants;
  char* const* of_texts;
} cdi_texts;
#else
typedef const char* const* cdi_texts;
#endif

/* The kinds of errors. Later releases may add more. */
enum cdi_code {
  CDI_SYNTAX = 1,   /* the text is not JSON or YAML */
  CDI_SCHEMA,       /* an unknown, missing or wrong member */
  CDI_INVALID,      /* a CDI rule is broken, or an argument is unusable */
  CDI_INVALID_NAME, /* not a valid vendor.com/class=device name */
  CDI_NOT_FOUND,    /* no spec provides the device */
  CDI_CONFLICT,     /* specs of equal priority provide the device, or a file has another owner */
  CDI_UNSUPPORTED,  /* the OCI spec or the CDI version does not support the edit */
  CDI_LIMIT,        /* the text is too large or too deep, or takes too much memory */
  CDI_HOST,         /* the host lacks the device node, or has a different one */
  CDI_REFUSED,      /* a policy forbids it */
  CDI_TIMEOUT,      /* the deadline has passed */
  CDI_SYSTEM,       /* a system call failed: see `system` */
  CDI_NO_MEMORY     /* memory is exhausted */
};

typedef struct cdi_error {
  size_t size; /* of the struct, in bytes, as in the other structs: see CDI_HAS */
  enum cdi_code code;
  const char* text;    /* what is wrong and where: file, line, column, member, message */
  const char* message; /* what is wrong */
  const char* advice;  /* what to do, or "" if unknown; not included in `text` or `message` */
  /* The path of the member, such as devices[0].containerEdits.env[1], or "". If a name does not
   * resolve, this and the next three members describe the first cause. */
  const char* where;
  const char* file;             /* or "" */
  uint32_t line, column;        /* from 1, in bytes; 0 if unknown */
  int system;                   /* errno after a failed system call, or 0 */
  const struct cdi_error* next; /* of the same call, or NULL; freed with the first error */
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

/* The edits of devices, in the terms of the OCI runtime spec, for an empty container: a root
 * process, no user namespace, and its own /dev, /proc and /sys. A missing text is "". `origin` says
 * where an edit comes from, such as "vendor.com/gpu=0 (/etc/cdi/vendor.yaml:12)", for logs. How to
 * merge edits into a container: cdi.h(3), MERGING EDITS. */

typedef struct cdi_node {
  size_t size;
  const char* path;      /* in the container */
  const char* host_path; /* on the host, to bind over `path` if nodes cannot be made */
  char type;             /* 'b', 'c', 'u' or 'p' */
  int64_t major, minor;  /* filled in from the host */
  bool has_file_mode, has_uid, has_gid;
  uint32_t file_mode, uid, gid;
  const char* access; /* allowed by the device cgroup, such as "rwm"; "" for none */
  const char* origin;
} cdi_node;

/* A rule that allows access in the device cgroup; also those of replaced nodes. */
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
  bool is_bind;   /* whether the options contain "bind" or "rbind" */
  bool read_only; /* by the last of "rro" and "rrw", or else of "ro" and "rw" */
  const char* origin;
} cdi_mount;

typedef struct cdi_hook {
  size_t size;
  const char* point; /* such as "createContainer" */
  const char* path;
  cdi_strings args, env;
  bool has_timeout;
  int64_t timeout;        /* in seconds */
  const char* hook_class; /* what it does, such as "symlinks"; "foreign" if unknown */
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

/* How an effect of a hook is made without the hook. */
typedef struct cdi_hook_note {
  size_t size;
  const char* hook_class; /* as in cdi_hook */
  const char* way;        /* such as "mounts", "variable", "nothing" or "lost": see docs/hooks.md */
  const char* subject;    /* the file, directory or variable, or "" */
  const char* reason;     /* why in this way, in words */
  const char* origin;
} cdi_hook_note;

typedef struct cdi_edits {
  size_t size;
  cdi_strings env; /* NAME=value */
  const cdi_node* const* nodes;
  size_t node_count;
  const cdi_rule* const* rules;
  size_t rule_count;
  const cdi_mount* const* mounts; /* in mount order */
  size_t mount_count;
  const cdi_hook* const* hooks; /* in the order in which to run the hooks of each point */
  size_t hook_count;
  const uint32_t* gids; /* additional groups of the process */
  size_t gid_count;
  const cdi_net_device* const* net_devices;
  size_t net_device_count;
  const cdi_intel_rdt* intel_rdt;    /* or NULL */
  const cdi_hook_note* const* notes; /* of cdi_cache_hookless_edits */
  size_t note_count;
} cdi_edits;

/* Frees any object, result or error of this library. NULL is ignored. */
CDI_API void cdi_free(const void* object);

/* The release of the library, such as "0.1.0". Do not free it. */
CDI_API const char* cdi_version(void);

/* Spec directories, up to date at each call. After fork, the new process must open its own. */
typedef struct cdi_cache cdi_cache;

/* Opens a cache of directories, listed from the lowest priority to the highest; with a `count` of
 * 0, of /etc/cdi and /var/run/cdi. A missing directory may be created later. Reads nothing yet. */
CDI_API cdi_cache* cdi_cache_open(cdi_texts dirs, size_t count, cdi_error** error);

/* How a cache works: a sum of these flags, or 0. */
enum cdi_cache_flags {
  CDI_QUARANTINE = 1,      /* skips an invalid device, and keeps the others of its file */
  CDI_REFUSE_WRITABLE = 2, /* rejects files and directories that other users may write to */
  CDI_WATCHED = 4,         /* notices changes with inotify, not stat; uses a descriptor */
  CDI_FORGET_INVALID = 8   /* a file that becomes invalid loses its last valid contents, too */
};

/* Opens a cache with flags. Fails with CDI_UNSUPPORTED if the library does not know a flag. */
CDI_API cdi_cache* cdi_cache_open_with(cdi_texts dirs, size_t count, uint32_t flags,
                                       cdi_error** error);

/* With CDI_WATCHED, returns a descriptor that is readable (poll, epoll) if files may have changed.
 * Then, and once a second, call cdi_cache_devices or cdi_cache_refresh. Never read from the
 * descriptor; the last cache that shares it closes it. Without inotify, fails with CDI_SYSTEM. */
CDI_API int cdi_cache_descriptor(cdi_cache* cache, cdi_error** error);

/* Checks all directories and files, and reads the changed ones again. */
CDI_API int cdi_cache_refresh(cdi_cache* cache, cdi_error** error);

/* The qualified names of all devices, sorted. */
CDI_API cdi_strings* cdi_cache_devices(cdi_cache* cache, cdi_error** error);

/* Why files and devices are not used, or, without CDI_FORGET_INVALID, as they were last valid. */
CDI_API cdi_errors* cdi_cache_errors(cdi_cache* cache, cdi_error** error);

/* Why names do not resolve; empty if all resolve. */
CDI_API cdi_reasons* cdi_cache_why(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);

/* Waits until all names resolve. Fails with CDI_TIMEOUT after `milliseconds`. Fails at once for an
 * invalid name, and for an unknown device of an existing kind, unless a file that may define the
 * device changed in the last second or cannot be read. */
CDI_API int cdi_cache_wait(cdi_cache* cache, cdi_texts names, size_t count, uint32_t milliseconds,
                           cdi_error** error);

/* Returns the text of a config.json with the devices injected, all or none. Bytes that no edit
 * concerns stay as they are. Without names, the text is returned unchecked. */
CDI_API char* cdi_cache_inject_json(cdi_cache* cache, const char* config, cdi_texts names,
                                    size_t count, cdi_error** error);

/* Injects the devices that resolve. If `rest` is not NULL, *rest receives a reason for each other
 * name; the caller frees it. */
CDI_API char* cdi_cache_inject_resolvable(cdi_cache* cache, const char* config, cdi_texts names,
                                          size_t count, cdi_reasons** rest, cdi_error** error);

/* Injects the devices that the config requests in annotations and in a variable: see
 * cdi_requested_devices. Waits up to `milliseconds` until all devices resolve, as cdi_cache_wait
 * does; 0 does not wait. If the cache has a policy and no `source`, the source of a request is its
 * annotation or variable. A config without requests is returned unchanged. */
CDI_API char* cdi_cache_inject_requested(cdi_cache* cache, const char* config, const char* prefix,
                                         const char* variable, uint32_t milliseconds,
                                         cdi_error** error);

/* Returns the edits of devices, for a runtime that fills its own structs. */
CDI_API cdi_edits* cdi_cache_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                   cdi_error** error);

/* Returns edits with mounts, nodes and variables in place of hooks: `hooks` is empty. `image_root`
 * is the root directory of the image, or NULL if it is not known. Generated files are written into
 * `state_dir`; NULL: none is written. `environment` is the container's own, and ends with NULL, or
 * is NULL. A hook that is not understood causes CDI_UNSUPPORTED. */
CDI_API cdi_edits* cdi_cache_hookless_edits(cdi_cache* cache, cdi_texts names, size_t count,
                                            const char* image_root, const char* state_dir,
                                            cdi_texts environment, cdi_error** error);

/* Which devices may be injected, and what their edits may do: see docs/policy.md. */
typedef struct cdi_policy cdi_policy;

/* Reads the policy in a JSON file. */
CDI_API cdi_policy* cdi_policy_open(const char* path, cdi_error** error);

/* Parses the policy in a JSON text; `path` is the file name for errors, or NULL. */
CDI_API cdi_policy* cdi_policy_parse(const char* text, const char* path, cdi_error** error);

/* Returns a cache of the same directories with another policy than `cache`. If the policy denies a
 * device, the functions that inject devices or return edits fail with one CDI_REFUSED per reason.
 * Hooks without an environment get a PATH. `source` is where requests come from: "field",
 * "annotation", "variable", "commandLine" or NULL. `cache` and `policy` may be freed. */
CDI_API cdi_cache* cdi_cache_with_policy(cdi_cache* cache, const cdi_policy* policy,
                                         const char* source, cdi_error** error);

/* Returns the devices that a container's annotations request, each once. Their keys begin with
 * `prefix`; NULL means "cdi.k8s.io/". */
CDI_API cdi_strings* cdi_annotated_devices(cdi_texts keys, cdi_texts values, size_t count,
                                           const char* prefix, cdi_error** error);

/* Returns the devices that the text of a config.json requests, each once: in its annotations, as in
 * cdi_annotated_devices, and in the environment variable `variable` of its process, such as
 * "VISIBLE_CDI_DEVICES"; NULL for none. Its value selects indices or all of a kind:
 * "vendor.com/gpu=0,1:vendor.com/nic=all". */
CDI_API cdi_strings* cdi_requested_devices(const char* config, const char* prefix,
                                           const char* variable, cdi_error** error);

/* Checks the text of a spec file; `path` is the file name for errors, or NULL. Returns the
 * warnings, for example about YAML text in a .json file. */
CDI_API cdi_errors* cdi_validate(const char* text, const char* path, cdi_error** error);

/* The spec files of one owner in a directory. A failed call may have created the directory. Each
 * change ends by syncing the directory; if only this step fails, the files have changed. */
typedef struct cdi_publisher cdi_publisher;

/* Opens a publisher. `owner` is the name of the program that decides which files exist. If `dir` is
 * NULL, the directory is /var/run/cdi. The first write creates a missing directory. */
CDI_API cdi_publisher* cdi_publisher_open(const char* owner, const char* dir, cdi_error** error);

/* Writes the meaning of a spec in JSON or YAML, and its owner (JSON: since CDI 0.6.0), to the file
 * `name`, which ends in .json or .yaml. A killed process leaves the old or the new file. */
CDI_API int cdi_publisher_write(cdi_publisher* publisher, const char* name, const char* text,
                                cdi_error** error);

/* Removes this owner's file `name`. A missing file is not an error. */
CDI_API int cdi_publisher_remove(cdi_publisher* publisher, const char* name, cdi_error** error);

/* Writes the files with these names and texts, and removes this owner's other files. All texts are
 * checked first. If some files cannot be written, the others still are, each failure has an error
 * (see `next`), and no file is removed. A file whose owner cannot be read stays: an error if its
 * name is in `names`. If `unread` is not NULL, *unread says why, or is NULL after an error. */
CDI_API int cdi_publisher_reconcile(cdi_publisher* publisher, cdi_texts names, cdi_texts texts,
                                    size_t count, cdi_errors** unread, cdi_error** error);
#ifdef __cplusplus
}
#endif
#endif /* CDI_H */
