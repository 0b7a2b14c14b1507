/* Runs a command in a sandbox with devices: bwrap DIR NAME... OPTION-OF-BWRAP... -- COMMAND...
 * No hook runs; stderr says what is lost without the hooks. */
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE /* environ */
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

static void add_edits(const cdi_edits* edits) {
  for (size_t i = 0; i < edits->node_count; ++i)
    add("--dev-bind", edits->nodes[i]->host_path, edits->nodes[i]->path);
  for (size_t i = 0; i < edits->mount_count; ++i)
    if (edits->mounts[i]->is_bind)
      add(edits->mounts[i]->read_only ? "--ro-bind" : "--bind", edits->mounts[i]->source,
          edits->mounts[i]->destination);
    else
      fprintf(stderr, "bwrap: not mounted: %s\n", edits->mounts[i]->destination);
  for (size_t i = 0; i < edits->note_count; ++i)
    if (strcmp(edits->notes[i]->way, "lost") == 0)
      fprintf(stderr, "bwrap: lost: %s: %s\n", edits->notes[i]->subject, edits->notes[i]->reason);
  if (edits->gid_count + edits->net_device_count != 0 || edits->intel_rdt != NULL)
    fprintf(stderr, "bwrap: groups, net devices and Intel RDT are not set\n");
  *end++ = "env";
  for (size_t i = 0; i < edits->env.count; ++i) *end++ = edits->env.items[i];
}

int main(int argc, char** argv) {
  int options = 2, command; /* the indices where these arguments begin */
  if (argc < 3) return fprintf(stderr, "usage: bwrap DIR NAME... OPTION... -- COMMAND...\n"), 2;
  while (options < argc && argv[options][0] != '-') ++options;
  for (command = options; command < argc && strcmp(argv[command], "--") != 0;) ++command;
  if (command == argc) return fprintf(stderr, "bwrap: there is no --\n"), 2;
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  cdi_edits* edits = NULL;
  if (cache != NULL)
    edits =
        cdi_cache_hookless_edits(cache, argv + 2, (size_t)options - 2, NULL, NULL, environ, &error);
  if (edits == NULL) return fprintf(stderr, "bwrap: %s\n", error->text), 1;
  size_t max = edits->node_count + edits->mount_count + edits->env.count;
  const char** words = end = calloc(3 * max + (size_t)argc + 3, sizeof *words);
  if (words == NULL) return perror("bwrap"), 1;
  *end++ = "bwrap";
  for (int i = options; i < command; ++i) *end++ = argv[i];
  add_edits(edits);
  for (int i = command + 1; i < argc; ++i) *end++ = argv[i];
  execvp("bwrap", (char* const*)words);
  return perror("bwrap"), 1;
}
