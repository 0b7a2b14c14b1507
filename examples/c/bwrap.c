/* Runs a command in a sandbox with devices: bwrap DIR NAME... OPTION-OF-BWRAP... -- COMMAND... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cdi/cdi.h>

static const char** end; /* of the arguments of bwrap */

static void add(const char* option, const char* from, const char* to) {
  *end++ = option;
  *end++ = from;
  *end++ = to;
}

int main(int argc, char** argv) {
  int options = 2, command; /* where they begin */
  while (options < argc && argv[options][0] != '-') ++options;
  for (command = options; command < argc && strcmp(argv[command], "--") != 0;) ++command;
  if (command == argc) return fprintf(stderr, "bwrap: there is no --\n"), 2;
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  cdi_edits* edits = NULL;
  if (cache != NULL) edits = cdi_cache_edits(cache, argv + 2, (size_t)options - 2, &error);
  if (edits == NULL) return fprintf(stderr, "bwrap: %s\n", error->text), 1;
  const cdi_root_changes* root = edits->root_changes;
  size_t most = edits->node_count + edits->mount_count + root->link_count + edits->env.count;
  const char** words = end = calloc(3 * most + (size_t)argc + 2, sizeof *words);
  if (words == NULL) return perror("bwrap"), 1;
  *end++ = "bwrap";
  for (int i = options; i < command; ++i) *end++ = argv[i];
  for (size_t i = 0; i < root->link_count; ++i)
    add("--symlink", root->links[i]->target, root->links[i]->path);
  for (size_t i = 0; i < edits->node_count; ++i)
    add("--dev-bind", edits->nodes[i]->host_path, edits->nodes[i]->path);
  for (size_t i = 0; i < edits->mount_count; ++i)
    add(edits->mounts[i]->read_only ? "--ro-bind" : "--bind", edits->mounts[i]->source,
        edits->mounts[i]->destination);
  for (size_t i = 0; i < edits->hook_count; ++i)
    if (!edits->hooks[i]->lowered) fprintf(stderr, "bwrap: not run: %s\n", edits->hooks[i]->path);
  *end++ = "env";
  for (size_t i = 0; i < edits->env.count; ++i) *end++ = edits->env.items[i];
  for (int i = command + 1; i < argc; ++i) *end++ = argv[i];
  execvp("bwrap", (char* const*)words);
  return perror("bwrap"), 1;
}
