/* Makes the records of libocispec's OCI spec from the records of cdi_edits, and compares them.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_RECORDS_H
#define CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_RECORDS_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef C_SPEC_CRUN
#define C_SPEC_CRUN 24
#endif

/* A NULL after the last item ends each list, because crun passes some lists to execve. MERGE_APPEND
 * adds `made`, and sets it to NULL. Without memory, or if `made` is NULL, nothing changes. */
#define MERGE_APPEND(items, length, made)                                             \
  do {                                                                                \
    void* larger_ = NULL;                                                             \
    if ((made) != NULL) larger_ = realloc((items), ((length) + 2) * sizeof *(items)); \
    if (larger_ == NULL) break;                                                       \
    (items) = larger_;                                                                \
    (items)[(length)++] = (made);                                                     \
    (items)[(length)] = (made) = NULL;                                                \
  } while (0)

/* Removes an item from a list, moves the later items, and ends the list with NULL. */
#define MERGE_REMOVE(items, length, at)                                                \
  (memmove((items) + (at), (items) + (at) + 1, ((length) - (at)-1) * sizeof *(items)), \
   (items)[--(length)] = NULL)

/* Returns the object that a pointer refers to, or a new one for NULL; NULL without memory. */
#define MERGE_PART(pointer) ((pointer) ? (pointer) : ((pointer) = calloc(1, sizeof *(pointer))))

static inline bool merge_is_same(const char* a, const char* b) {
  return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

static inline bool merge_are_same(char* const* a, size_t a_length, char* const* b,
                                  size_t b_length) {
  if (a_length != b_length) return false;
  for (size_t i = 0; i < a_length; ++i) {
    if (strcmp(a[i], b[i]) != 0) return false;
  }
  return true;
}

/* Copies a text; an empty text becomes NULL, which OCI omits. Returns false without memory. */
static inline bool merge_copy(const char* text, char** to) {
  if (*text == '\0') return true;
  *to = malloc(strlen(text) + 1);
  return *to != NULL && strcpy(*to, text) != NULL;
}

static inline bool merge_copies(cdi_strings texts, char*** to, size_t* length) {
  if (texts.count == 0) return true;
  *to = calloc(texts.count + 1, sizeof **to);
  for (size_t i = 0; *to != NULL && i < texts.count; ++i) {
    (*to)[i] = malloc(strlen(texts.items[i]) + 1);
    if ((*to)[i] == NULL) return false;
    strcpy((*to)[i], texts.items[i]);
    *length = i + 1;
  }
  return *to != NULL;
}

/* The new node belongs to the user of the process, unless the edit says otherwise. */
static inline runtime_spec_schema_defs_linux_device* merge_make_node(
    const cdi_node* node, const runtime_spec_schema_config_schema_process_user* user) {
  runtime_spec_schema_defs_linux_device* made = calloc(1, sizeof *made);
  const char type[] = {node->type, '\0'};
  if (made == NULL) return NULL;
  made->major = node->major;
  made->minor = node->minor;
  made->major_present = made->minor_present = 1;
  made->file_mode = (int)node->file_mode;
  made->file_mode_present = node->has_file_mode;
  made->uid = node->has_uid || user == NULL ? node->uid : user->uid;
  made->uid_present = node->has_uid || made->uid != 0;
  made->gid = node->has_gid || user == NULL ? node->gid : user->gid;
  made->gid_present = node->has_gid || made->gid != 0;
  if (merge_copy(node->path, &made->path) && merge_copy(type, &made->type)) return made;
  free_runtime_spec_schema_defs_linux_device(made);
  return NULL;
}

static inline bool merge_same_nodes(const runtime_spec_schema_defs_linux_device* a,
                                    const runtime_spec_schema_defs_linux_device* b) {
  return merge_is_same(a->path, b->path) && merge_is_same(a->type, b->type) &&
         a->major == b->major && a->minor == b->minor &&
         a->file_mode_present == b->file_mode_present && a->file_mode == b->file_mode &&
         a->uid_present == b->uid_present && a->uid == b->uid && a->gid_present == b->gid_present &&
         a->gid == b->gid;
}

/* Returns the id mapping that a bind mount needs in a user namespace; NULL if it has one. */
static inline const char* merge_mapping(const cdi_mount* mount) {
  const char* mapping = strcmp(mount->type, "bind") == 0 ? "idmap" : NULL;
  for (size_t i = 0; i < mount->options.count; ++i) {
    const char* option = mount->options.items[i];
    if (strcmp(option, "idmap") == 0 || strcmp(option, "ridmap") == 0) return NULL;
    if (strcmp(option, "bind") == 0) mapping = "idmap";
    if (strcmp(option, "rbind") == 0) mapping = "ridmap";
  }
  return mapping;
}

static inline runtime_spec_schema_defs_mount* merge_make_mount(const cdi_mount* mount,
                                                               bool maps_ids) {
  runtime_spec_schema_defs_mount* made = calloc(1, sizeof *made);
  char* mapping = NULL;
  if (made == NULL) return NULL;
  bool good = merge_copy(mount->destination, &made->destination) &&
              merge_copy(mount->source, &made->source) && merge_copy(mount->type, &made->type) &&
              merge_copies(mount->options, &made->options, &made->options_len);
  if (good && maps_ids && merge_mapping(mount) != NULL) {
    good = merge_copy(merge_mapping(mount), &mapping);
    MERGE_APPEND(made->options, made->options_len, mapping);
    good = good && mapping == NULL;
  }
  free(mapping);
  if (good) return made;
  free_runtime_spec_schema_defs_mount(made);
  return NULL;
}

static inline void merge_free_hook(runtime_spec_schema_defs_hook* hook) {
  for (size_t i = 0; i < hook->args_len; ++i) free(hook->args[i]);
  for (size_t i = 0; i < hook->env_len; ++i) free(hook->env[i]);
  free(hook->args);
  free(hook->env);
  free(hook->path);
  free(hook);
}

/* Makes a record from a hook; returns NULL without memory. */
static inline runtime_spec_schema_defs_hook* merge_make_hook(const cdi_hook* hook) {
  runtime_spec_schema_defs_hook* made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->timeout_present = hook->has_timeout;
  made->timeout = hook->timeout < INT_MAX ? (int)hook->timeout : INT_MAX;
  if (merge_copy(hook->path, &made->path) &&
      merge_copies(hook->args, &made->args, &made->args_len) &&
      merge_copies(hook->env, &made->env, &made->env_len)) {
    return made;
  }
  merge_free_hook(made);
  return NULL;
}

static inline bool merge_same_hooks(const runtime_spec_schema_defs_hook* a,
                                    const runtime_spec_schema_defs_hook* b) {
  return merge_is_same(a->path, b->path) &&
         merge_are_same(a->args, a->args_len, b->args, b->args_len) &&
         merge_are_same(a->env, a->env_len, b->env, b->env_len) &&
         a->timeout_present == b->timeout_present && a->timeout == b->timeout;
}

#endif /* CDI_EXAMPLES_EDITORS_C_SPEC_MERGE_RECORDS_H */
