/* Runs a command in a sandbox with devices: bwrap DIR NAME... OPTION-OF-BWRAP... -- COMMAND...
 * Reports on stderr which edits it does not make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cdi/cdi.h>

static const char** end; /* end of bwrap's arguments */

static void add(const char* option, const char* from, const char* to) {
  *end++ = option;
  *end++ = from;
  *end++ = to;
}

/* Returns the value of a variable in the sandbox, or NULL. */
static const char* value_of(const cdi_edits* edits, const char* name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < edits->env.count; ++i) {
    const char* item = edits->env.items[i];
    if (strncmp(item, name, length) == 0 && item[length] == '=') return item + length + 1;
  }
  return getenv(name);
}

/* Returns LD_LIBRARY_PATH=..., with the new folders before the sandbox's own, or NULL. */
static char* library_path(const cdi_edits* edits) {
  static const char name[] = "LD_LIBRARY_PATH";
  const cdi_strings* folders = &edits->root_changes->library_folders;
  const char* old = value_of(edits, name);
  size_t size = sizeof name + 1 + (old == NULL ? 0 : strlen(old));
  for (size_t i = 0; i < folders->count; ++i) size += strlen(folders->items[i]) + 1;
  char* made = calloc(1, size);
  if (made == NULL) return NULL;
  strcpy(made, name);
  for (size_t i = 0; i < folders->count; ++i)
    strcat(strcat(made, i == 0 ? "=" : ":"), folders->items[i]);
  return old == NULL || *old == '\0' ? made : strcat(strcat(made, ":"), old);
}

static bool must_run(const cdi_edits* edits, const cdi_hook* hook) {
  for (size_t i = 0; i < hook->variables.count; ++i)
    if (value_of(edits, hook->variables.items[i]) != NULL) return true;
  return !hook->lowered;
}

static void print_rest(const cdi_edits* edits) {
  const cdi_root_changes* root = edits->root_changes;
  for (size_t i = 0; i < edits->mount_count; ++i)
    if (!edits->mounts[i]->is_bind)
      fprintf(stderr, "bwrap: not mounted: %s\n", edits->mounts[i]->destination);
  for (size_t i = 0; i < edits->hook_count; ++i)
    if (must_run(edits, edits->hooks[i]))
      fprintf(stderr, "bwrap: not run: %s\n", edits->hooks[i]->path);
  for (size_t i = 0; i < root->mode_count; ++i)
    fprintf(stderr, "bwrap: mode not changed: %s\n", root->modes[i]->path);
  for (size_t i = 0; i < root->file_count; ++i)
    fprintf(stderr, "bwrap: not written: %s\n", root->files[i]->path);
  if (root->params != NULL) fprintf(stderr, "bwrap: not written: %s\n", root->params->path);
  for (size_t i = 0; i < root->cuda_compat_count; ++i)
    fprintf(stderr, "bwrap: not preferred: %s\n", root->cuda_compat[i]->folder);
  for (size_t i = 0; i < edits->gid_count; ++i)
    fprintf(stderr, "bwrap: group not added: %lu\n", (unsigned long)edits->gids[i]);
  for (size_t i = 0; i < edits->net_device_count; ++i)
    fprintf(stderr, "bwrap: not moved: %s\n", edits->net_devices[i]->host_name);
  if (edits->intel_rdt != NULL) fprintf(stderr, "bwrap: no Intel RDT\n");
}

static void add_edits(const cdi_edits* edits) {
  const cdi_root_changes* root = edits->root_changes;
  for (size_t i = 0; i < root->link_count; ++i)
    add("--symlink", root->links[i]->target, root->links[i]->path);
  for (size_t i = 0; i < edits->node_count; ++i)
    add("--dev-bind", edits->nodes[i]->host_path, edits->nodes[i]->path);
  for (size_t i = 0; i < root->node_link_count; ++i)
    add("--symlink", root->node_links[i]->target, root->node_links[i]->path);
  for (size_t i = 0; i < edits->mount_count; ++i)
    if (edits->mounts[i]->is_bind)
      add(edits->mounts[i]->read_only ? "--ro-bind" : "--bind", edits->mounts[i]->source,
          edits->mounts[i]->destination);
  *end++ = "env";
  for (size_t i = 0; i < edits->env.count; ++i) *end++ = edits->env.items[i];
  if (root->library_folders.count != 0) *end++ = library_path(edits);
}

int main(int argc, char** argv) {
  int options = 2, command; /* the indices where these arguments begin */
  while (options < argc && argv[options][0] != '-') ++options;
  for (command = options; command < argc && strcmp(argv[command], "--") != 0;) ++command;
  if (command == argc) return fprintf(stderr, "bwrap: there is no --\n"), 2;
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  cdi_edits* edits = NULL;
  if (cache != NULL) edits = cdi_cache_edits(cache, argv + 2, (size_t)options - 2, &error);
  if (edits == NULL) {
    fprintf(stderr, "bwrap: %s\n", error->text);
    if (error->advice[0] != '\0') fprintf(stderr, "  fix: %s\n", error->advice);
    return 1;
  }
  const cdi_root_changes* root = edits->root_changes;
  size_t max = edits->node_count + edits->mount_count + edits->env.count + root->link_count +
                root->node_link_count;
  const char** words = end = calloc(3 * max + (size_t)argc + 3, sizeof *words);
  if (words == NULL) return perror("bwrap"), 1;
  *end++ = "bwrap";
  for (int i = options; i < command; ++i) *end++ = argv[i];
  add_edits(edits);
  if (end[-1] == NULL) return perror("bwrap"), 1;
  print_rest(edits);
  for (int i = command + 1; i < argc; ++i) *end++ = argv[i];
  execvp("bwrap", (char* const*)words);
  return perror("bwrap"), 1;
}
