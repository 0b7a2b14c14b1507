/* Prints what a runtime with its own structs must do for devices, and where each edit comes from:
 * runtime DIR NAME... */
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include <inttypes.h>
#include <stdio.h>

#include <cdi/cdi.h>

static void print_list(const char* what, cdi_strings list) {
  for (size_t i = 0; i < list.count; ++i) printf(" %s%s", what, list.items[i]);
}

static void print_nodes(const cdi_edits* edits) {
  for (size_t i = 0; i < edits->node_count; ++i) {
    const cdi_node* node = edits->nodes[i];
    printf("mknod %s (%s) %c %" PRId64 " %" PRId64, node->path, node->host_path, node->type,
           node->major, node->minor);
    if (node->has_file_mode) printf(" mode=%03" PRIo32, node->file_mode);
    if (node->has_uid) printf(" uid=%" PRIu32, node->uid);
    if (node->has_gid) printf(" gid=%" PRIu32, node->gid);
    printf(" # %s\n", node->origin);
  }
  for (size_t i = 0; i < edits->rule_count; ++i) {
    const cdi_rule* rule = edits->rules[i];
    printf("allow %c %" PRId64 ":%" PRId64 " %s\n", rule->type, rule->major, rule->minor,
           rule->access);
  }
}

static void print_hooks(const cdi_edits* edits) {
  for (size_t i = 0; i < edits->hook_count; ++i) {
    const cdi_hook* hook = edits->hooks[i];
    printf("%s %s (%s)", hook->point, hook->path, hook->hook_class);
    print_list("", hook->args);
    print_list("env:", hook->env);
    if (hook->has_timeout) printf(" timeout=%" PRId64, hook->timeout);
    printf(" # %s\n", hook->origin);
  }
}

static void print_edits(const cdi_edits* edits) {
  for (size_t i = 0; i < edits->env.count; ++i) printf("env %s\n", edits->env.items[i]);
  print_nodes(edits);
  for (size_t i = 0; i < edits->mount_count; ++i) {
    const cdi_mount* mount = edits->mounts[i];
    printf("mount %s %s %s", mount->source, mount->destination, mount->type);
    print_list("", mount->options);
    printf(" # %s\n", mount->origin);
  }
  print_hooks(edits);
  for (size_t i = 0; i < edits->gid_count; ++i) printf("gid %" PRIu32 "\n", edits->gids[i]);
  for (size_t i = 0; i < edits->net_device_count; ++i) {
    const cdi_net_device* device = edits->net_devices[i];
    printf("netdev %s %s # %s\n", device->host_name, device->name, device->origin);
  }
  if (edits->intel_rdt != NULL) {
    printf("rdt %s", edits->intel_rdt->clos_id);
    print_list("", edits->intel_rdt->schemata);
    printf(" # %s\n", edits->intel_rdt->origin);
  }
}

/* Prints errors with their advice. */
static void print_errors(const cdi_error* error) {
  for (; error != NULL; error = error->next) {
    fprintf(stderr, "runtime: %s\n", error->text);
    if (error->advice[0] != '\0') fprintf(stderr, "  fix: %s\n", error->advice);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: runtime DIR NAME...\n");
    return 2;
  }
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  cdi_edits* edits =
      cache == NULL ? NULL : cdi_cache_edits(cache, argv + 2, (size_t)argc - 2, &error);
  if (edits != NULL) print_edits(edits);
  print_errors(error);
  int result = edits == NULL ? 1 : 0;
  cdi_free(edits);
  cdi_free(error);
  cdi_free(cache);
  return result;
}
