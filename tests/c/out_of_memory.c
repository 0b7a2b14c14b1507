/* Calls each function of cdi/cdi.h again and again; each time another allocation fails:
 * out_of_memory DIR, a directory that does not exist yet. Each call must give its result or
 * CDI_NO_MEMORY. Exits with 1 at the first wrong answer, and prints how many calls ran out of
 * memory.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cdi/cdi.h>

static long left = -1; /* allocations until one fails; -1: none fails */

void* malloc(size_t size) {
  static void* (*real)(size_t);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "malloc");
  if (left == 0) {
    left = -1;
    errno = ENOMEM;
    return NULL;
  }
  if (left > 0) --left;
  return real(size);
}

static const char* dir;
static const char* const device[] = {"v.com/c=d"};
static const char* const both[] = {"v.com/c=d", "v.com/c=e"};
static const char* const names[] = {"v.json", "w.yaml"};
static const char* const specs[] = {
    "{\"cdiVersion\": \"0.7.0\", \"kind\": \"v.com/c\", \"devices\": [{\"name\": \"d\","
    " \"containerEdits\": {\"env\": [\"A=1\"], \"deviceNodes\": [{\"path\": \"/dev/null\"}],"
    " \"mounts\": [{\"hostPath\": \"/h\", \"containerPath\": \"/c\", \"options\": [\"bind\"]}],"
    " \"hooks\": [{\"hookName\": \"createContainer\", \"path\": \"/p/nvidia-cdi-hook\","
    " \"args\": [\"p\", \"create-symlinks\", \"--link\", \"c::/d\"]},"
    " {\"hookName\": \"createContainer\", \"path\": \"/p/nvidia-cdi-hook\","
    " \"args\": [\"p\", \"update-ldcache\", \"--folder\", \"/opt/x\"]}]}}]}",
    "cdiVersion: 0.6.0\nkind: w.com/c\ndevices: [{name: 1e3, containerEdits: {env: [B=2]}}]\n"};
static const char* const config =
    "{\"process\": {\"env\": [\"A=2\"]}, \"annotations\": {\"cdi.k8s.io/a\": \"v.com/c=d\"}}";
static const char* const rules =
    "{\"rules\": [{\"name\": \"r\", \"allow\": true, \"edits\": {\"env\": [\"Q*\"]}}]}";

/* What a call gives: an object that is freed, or NULL; a call that returns a number gives `good`
 * for 0. */
typedef const void* Call(cdi_cache* cache, cdi_publisher* publisher, cdi_error** error);
static const char good_of_numbers;

static const void* number(int result) {
  return result == 0 ? &good_of_numbers : NULL;
}

#define CALL(name) \
  static const void* name(cdi_cache* cache, cdi_publisher* publisher, cdi_error** error)
#define UNUSED (void)cache, (void)publisher

CALL(open_cache) {
  UNUSED;
  return cdi_cache_open_with(&dir, 1, CDI_WATCHED, error);
}
CALL(list) {
  UNUSED;
  return cdi_cache_devices(cache, error);
}
CALL(faults) {
  UNUSED;
  return cdi_cache_errors(cache, error);
}
CALL(why) {
  UNUSED;
  return cdi_cache_why(cache, both, 2, error);
}
CALL(wait_for) {
  UNUSED;
  return number(cdi_cache_wait(cache, device, 1, 100, error));
}
CALL(inject) {
  UNUSED;
  return cdi_cache_inject_json(cache, config, device, 1, error);
}
CALL(inject_resolvable) {
  UNUSED;
  cdi_reasons* rest = NULL;
  const char* json = cdi_cache_inject_resolvable(cache, config, both, 2, &rest, error);
  if ((json == NULL) != (rest == NULL)) exit(printf("a result without the reasons\n"));
  cdi_free(rest);
  return json;
}
CALL(inject_requested) {
  UNUSED;
  return cdi_cache_inject_requested(cache, config, NULL, "V", 0, error);
}
CALL(edits) {
  UNUSED;
  return cdi_cache_edits(cache, device, 1, error);
}
CALL(hookless_edits) {
  UNUSED;
  const char* const own[] = {"LD_LIBRARY_PATH=/own", NULL};
  return cdi_cache_hookless_edits(cache, device, 1, dir, NULL, own, error);
}
CALL(requested) {
  UNUSED;
  return cdi_requested_devices(config, NULL, "V", error);
}
CALL(annotated) {
  UNUSED;
  const char* const key[] = {"cdi.k8s.io/a"};
  return cdi_annotated_devices(key, device, 1, NULL, error);
}
CALL(validate) {
  UNUSED;
  return cdi_validate(specs[1], "w.json", error);
}
CALL(with_policy) {
  UNUSED;
  cdi_policy* policy = cdi_policy_parse(rules, "p.json", error);
  if (policy == NULL) return NULL;
  cdi_cache* limited = cdi_cache_with_policy(cache, policy, "field", error);
  cdi_free(policy);
  return limited;
}
/* The policy denies the device: without memory, it must not be injected either. */
CALL(denied) {
  UNUSED;
  cdi_policy* policy = cdi_policy_parse(rules, "p.json", error);
  cdi_cache* limited = policy == NULL ? NULL : cdi_cache_with_policy(cache, policy, "field", error);
  cdi_free(policy);
  if (limited == NULL) return NULL;
  char* json = cdi_cache_inject_json(limited, config, device, 1, error);
  cdi_free(limited);
  if (json != NULL) exit(printf("a denied device was injected\n"));
  if (*error == NULL || (*error)->code != CDI_REFUSED) return NULL;
  cdi_free(*error);
  *error = NULL;
  return &good_of_numbers;
}
CALL(unknown) {
  UNUSED;
  cdi_edits* found = cdi_cache_edits(cache, both, 2, error);
  if (found != NULL) exit(printf("an unknown device was found\n"));
  if (*error == NULL || (*error)->code != CDI_NOT_FOUND) return NULL;
  cdi_free(*error);
  *error = NULL;
  return &good_of_numbers;
}
CALL(open_publisher) {
  UNUSED;
  return cdi_publisher_open("out_of_memory", dir, error);
}
CALL(write_spec) {
  UNUSED;
  return number(cdi_publisher_write(publisher, names[1], specs[1], error));
}
CALL(remove_spec) {
  UNUSED;
  return number(cdi_publisher_remove(publisher, names[1], error));
}
CALL(reconcile) {
  UNUSED;
  return number(cdi_publisher_reconcile(publisher, names, specs, 2, NULL, error));
}

/* Runs a call; `at` is the allocation that fails. Returns whether there was one. A new cache reads
 * its files within the call. */
static int run(Call* call, long at, long* without_memory) {
  cdi_error* error = NULL;
  cdi_publisher* publisher = cdi_publisher_open("out_of_memory", dir, NULL);
  cdi_cache* cache = cdi_cache_open(&dir, 1, NULL);
  left = at;
  const void* result = call(cache, publisher, &error);
  const int failed = left == -1;
  left = -1;
  if ((result == NULL) == (error == NULL)) exit(printf("neither result nor error, or both\n"));
  if (error != NULL && error->code != CDI_NO_MEMORY) exit(printf("%s\n", error->text));
  if (error != NULL && !failed) exit(printf("an error without a failed allocation\n"));
  if (error != NULL) ++*without_memory;
  if (result != &good_of_numbers) cdi_free(result);
  cdi_free(error);
  cdi_free(cache);
  cdi_free(publisher);
  return failed;
}

int main(int argc, char** argv) {
  static Call* const calls[] = {
      open_cache, list,       faults,      why,         wait_for,      inject,  inject_resolvable,
      edits,      requested,  annotated,   validate,    denied,        unknown, inject_requested,
      reconcile,  write_spec, remove_spec, with_policy, open_publisher, hookless_edits};
  if (argc != 2) return 2;
  dir = argv[1];
  cdi_publisher* publisher = cdi_publisher_open("out_of_memory", dir, NULL);
  if (cdi_publisher_write(publisher, names[0], specs[0], NULL) != 0) return 2;
  cdi_free(publisher);
  long without_memory = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    long at = 0;
    while (run(calls[i], at, &without_memory)) ++at;
  }
  printf("%ld\n", without_memory);
  return 0;
}
