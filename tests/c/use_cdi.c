/* Uses each function of cdi/cdi.h once: use_cdi DIR, a directory that does not exist yet. Exits
 * with 1 at the first wrong answer.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cdi/cdi.h>

#define CHECK(good) ((good) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #good), exit(1)))

#define HOOK(args)                                                                           \
  "{\"hookName\": \"createContainer\", \"path\": \"/p/nvidia-cdi-hook\", \"args\": [\"n\", " \
  "\"" args "\"]}"

static const char* const spec =
    "{\"cdiVersion\": \"0.7.0\", \"kind\": \"v.com/c\", \"containerEdits\": {\"env\": [\"S=1\"],"
    "\"deviceNodes\": [{\"path\": \"/dev/d\", \"type\": \"c\", \"major\": 5, \"minor\": 7,"
    " \"permissions\": \"none\"}],"
    "\"mounts\": [{\"hostPath\": \"/usr/x\", \"containerPath\": \"/c\", \"options\": [\"bind\"]}]},"
    " \"devices\": [{\"name\": \"d\", \"containerEdits\": {\"env\": [\"S=2\"],"
    "\"deviceNodes\": [{\"path\": \"/dev/d\", \"type\": \"c\", \"major\": 5, \"minor\": 6,"
    " \"fileMode\": 416, \"gid\": 7, \"permissions\": \"rw\"}],"
    "\"mounts\": [{\"hostPath\": \"/h\", \"containerPath\": \"/c\", \"options\": [\"ro\", "
    "\"bind\"]}],"
    "\"hooks\": [{\"hookName\": \"poststop\", \"path\": \"/p\", \"args\": [\"p\"], \"timeout\": "
    "3}],"
    "\"additionalGids\": [44], \"intelRdt\": {\"closID\": \"low\"}}}]}";
static const char* const device[] = {"v.com/c=d"};
static const char* const unknown[] = {"v.com/c=e", "bad"};

static void check_edits(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_edits* edits = cdi_cache_edits(cache, device, 1, &error);
  CHECK(edits != NULL && error == NULL);
  CHECK(edits->env.count == 1 && strcmp(edits->env.items[0], "S=2") == 0);
  CHECK(edits->node_count == 1 && strcmp(edits->nodes[0]->path, "/dev/d") == 0);
  CHECK(edits->size >= sizeof *edits && CDI_HAS(cdi_node, edits->nodes[0], host_path));
  CHECK(strcmp(edits->nodes[0]->host_path, "/dev/d") == 0);
  CHECK(strcmp(edits->nodes[0]->access, "rw") == 0);
  CHECK(edits->nodes[0]->type == 'c' && edits->nodes[0]->major == 5 && edits->nodes[0]->minor == 6);
  CHECK(edits->nodes[0]->has_file_mode && edits->nodes[0]->file_mode == 0640);
  CHECK(!edits->nodes[0]->has_uid && edits->nodes[0]->has_gid && edits->nodes[0]->gid == 7);
  CHECK(edits->rule_count == 2 && edits->rules[0]->minor == 7 &&
        edits->rules[0]->access[0] == '\0');
  CHECK(edits->rules[1]->type == 'c' && edits->rules[1]->major == 5 && edits->rules[1]->minor == 6);
  CHECK(strcmp(edits->rules[1]->access, "rw") == 0);
  CHECK(edits->mount_count == 1 && strcmp(edits->mounts[0]->source, "/h") == 0);
  CHECK(strcmp(edits->mounts[0]->destination, "/c") == 0 && edits->mounts[0]->type[0] == '\0');
  CHECK(edits->mounts[0]->options.count == 2);
  CHECK(edits->mounts[0]->is_bind && edits->mounts[0]->read_only);
  CHECK(strcmp(edits->mounts[0]->options.items[1], "bind") == 0);
  CHECK(edits->hook_count == 1 && strcmp(edits->hooks[0]->point, "poststop") == 0);
  CHECK(edits->hooks[0]->args.count == 1 && edits->hooks[0]->env.count == 0);
  CHECK(edits->hooks[0]->has_timeout && edits->hooks[0]->timeout == 3);
  CHECK(strcmp(edits->hooks[0]->hook_class, "foreign") == 0);
  CHECK(edits->gid_count == 1 && edits->gids[0] == 44 && edits->net_device_count == 0);
  CHECK(edits->intel_rdt != NULL && strcmp(edits->intel_rdt->clos_id, "low") == 0);
  CHECK(strncmp(edits->nodes[0]->origin, "v.com/c=d (/", 12) == 0);
  CHECK(strstr(edits->intel_rdt->origin, "/v.json:") != NULL);
  cdi_free(edits);
  CHECK(cdi_cache_edits(cache, unknown, 1, &error) == NULL && error->code == CDI_NOT_FOUND);
  cdi_free(error);
}

static const char* const hooked =
    "{\"cdiVersion\": \"0.5.0\", \"kind\": \"h.com/c\", \"devices\": [{\"name\": \"d\","
    " \"containerEdits\": {\"mounts\": [{\"hostPath\": \"/etc/passwd\", \"containerPath\":"
    " \"/opt/l/f\", \"options\": [\"ro\", \"rbind\"]}],"
    " \"deviceNodes\": [{\"path\": \"/dev/nvidia0\", \"type\": \"c\", \"major\": 195, \"minor\": 0}],"
    " \"hooks\": [" HOOK("create-symlinks\", \"--link\", \"f::/opt/l/g") ","
    HOOK("update-ldcache\", \"--folder\", \"/opt/l") ","
    HOOK("update-application-profile") ","
    HOOK("apply-cuda-memory-limits\", \"--gpu-id=0") "]}}]}";

/* Makes DIR/NAME: a file with a text, or a directory if there is none. */
static const char* make(const char* dir, const char* name, const char* text) {
  static char path[4096];
  CHECK((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path);
  if (text == NULL) {
    CHECK(mkdir(path, 0755) == 0);
    return path;
  }
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  return path;
}

static int has_way(const cdi_edits* edits, const char* hook_class, const char* way) {
  for (size_t i = 0; i < edits->note_count; ++i) {
    const cdi_hook_note* note = edits->notes[i];
    CHECK(CDI_HAS(cdi_hook_note, note, origin) && note->reason[0] != '\0');
    CHECK(strncmp(note->origin, "h.com/c=d (/", 12) == 0);
    if (strcmp(note->hook_class, hook_class) == 0 && strcmp(note->way, way) == 0) return 1;
  }
  return 0;
}

static void check_unknown_image(cdi_cache* cache) {
  const char* const names[] = {"h.com/c=d"};
  const char* const own[] = {"A=1", "LD_LIBRARY_PATH=/own", NULL};
  cdi_error* error = NULL;
  cdi_edits* edits = cdi_cache_hookless_edits(cache, names, 1, NULL, NULL, own, &error);
  CHECK(edits != NULL && error == NULL && edits->hook_count == 0);
  CHECK(edits->mount_count == 2 && strcmp(edits->mounts[1]->source, "/etc/passwd") == 0);
  CHECK(strcmp(edits->mounts[1]->destination, "/opt/l/g") == 0 && edits->mounts[1]->is_bind);
  CHECK(edits->env.count == 1 && strcmp(edits->env.items[0], "LD_LIBRARY_PATH=/opt/l:/own") == 0);
  CHECK(CDI_HAS(cdi_edits, edits, note_count) && edits->note_count == 4);
  CHECK(has_way(edits, "symlinks", "mounts") && has_way(edits, "ldcache", "variable"));
  CHECK(has_way(edits, "profile", "lost") && has_way(edits, "memory-limits", "nothing"));
  CHECK(strcmp(edits->notes[0]->subject, "/opt/l/g") == 0);
  cdi_free(edits);
  edits = cdi_cache_hookless_edits(cache, names, 1, NULL, NULL, NULL, &error);
  CHECK(edits != NULL && strcmp(edits->env.items[0], "LD_LIBRARY_PATH=/opt/l") == 0);
  cdi_free(edits);
  edits = cdi_cache_edits(cache, names, 1, NULL);
  CHECK(edits != NULL && edits->hook_count == 4 && edits->note_count == 0);
  cdi_free(edits);
}

static void check_image(cdi_cache* cache, const char* image, const char* state) {
  const char* const names[] = {"h.com/c=d"};
  cdi_error* error = NULL;
  cdi_edits* edits = cdi_cache_hookless_edits(cache, names, 1, image, state, NULL, &error);
  CHECK(edits != NULL && error == NULL && edits->env.count == 0 && edits->mount_count == 4);
  CHECK(has_way(edits, "ldcache", "linker-cache") && has_way(edits, "profile", "file"));
  CHECK(strcmp(edits->mounts[0]->destination, "/etc/ld.so.cache") == 0);
  CHECK(strncmp(edits->mounts[0]->source, state, strlen(state)) == 0);
  CHECK(access(edits->mounts[0]->source, R_OK) == 0 && edits->mounts[0]->read_only);
  cdi_free(edits);
  edits = cdi_cache_hookless_edits(cache, names, 1, image, NULL, NULL, &error);
  CHECK(edits != NULL && has_way(edits, "ldcache", "variable"));
  cdi_free(edits);
  CHECK(cdi_cache_hookless_edits(cache, names, 1, "/none", NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_SYSTEM && error->system == ENOENT && strcmp(error->file, "/none") == 0);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(cache, names, 1, NULL, "/none", NULL, &error) == NULL);
  CHECK(error->code == CDI_SYSTEM && error->system == ENOENT);
  cdi_free(error);
}

static void check_hookless(cdi_cache* cache, const char* dir) {
  const char* const names[] = {"h.com/c=d", NULL};
  const char* const limited_memory[] = {"NVIDIA_GPU_MEMORY_LIMIT=1", NULL};
  cdi_error* error = NULL;
  make(dir, "h.json", hooked);
  CHECK(cdi_cache_refresh(cache, NULL) == 0);
  check_unknown_image(cache);
  char image[4096], state[4096];
  strcpy(image, make(dir, "image", NULL));
  strcpy(state, make(dir, "state", NULL));
  make(image, "lib", NULL);
  make(image, "lib/ld-linux.so.2", "");
  check_image(cache, image, state);
  CHECK(cdi_cache_hookless_edits(cache, names, 1, NULL, NULL, limited_memory, &error) == NULL);
  CHECK(error->code == CDI_UNSUPPORTED && strstr(error->text, "h.json") != NULL);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(cache, device, 1, NULL, NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_UNSUPPORTED && error->line != 0 && error->advice[0] != '\0');
  CHECK(strstr(error->message, "\"/p\"") != NULL);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(cache, unknown, 2, NULL, NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_NOT_FOUND && error->next != NULL);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(cache, names, 2, NULL, NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(cache, NULL, 1, NULL, NULL, NULL, NULL) == NULL);
  CHECK(cdi_cache_hookless_edits(NULL, names, 1, NULL, NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(remove(make(dir, "h.json", "")) == 0 && cdi_cache_refresh(cache, NULL) == 0);
}

/* A file that is not valid: the error has the place in it, and what to do. */
static void check_rejected(cdi_cache* cache, const char* dir) {
  char path[4096];
  const char* const names[] = {"w.com/c=d", "w.com/c=d"};
  cdi_error* error = NULL;
  CHECK((size_t)snprintf(path, sizeof path, "%s/w.json", dir) < sizeof path);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fputs("{\"cdiVersion\": \"0.7.0\", \"kind\": \"w.com/c\",\n"
                              "\"devices\": [{\"name\": \"d\", \"x\": 1}]}",
                              file) >= 0);
  CHECK(fclose(file) == 0 && cdi_cache_refresh(cache, NULL) == 0);
  CHECK(cdi_cache_edits(cache, names, 2, &error) == NULL && error->code == CDI_SCHEMA);
  CHECK(strcmp(error->file, path) == 0 && error->line == 2 && error->column != 0);
  CHECK(strcmp(error->where, "devices[0].x") == 0 && strstr(error->advice, "regenerate") != NULL);
  CHECK(strstr(error->text, "cannot resolve \"w.com/c=d\"") == error->text);
  CHECK(strstr(error->text, error->message) != NULL && strstr(error->text, "w.json:2:") != NULL);
  CHECK(error->next != NULL && error->next->line == 2 && error->next->next == NULL);
  cdi_free(error);
  CHECK(cdi_cache_inject_json(cache, "{}", names, 1, &error) == NULL && error->line == 2);
  cdi_free(error);
  CHECK(cdi_cache_wait(cache, names, 2, 0, &error) == -1 && error->code == CDI_TIMEOUT);
  CHECK(strcmp(error->file, path) == 0 && error->line == 2 && error->advice[0] != '\0');
  CHECK(strstr(error->text, "timed out: cannot resolve \"w.com/c=d\"") == error->text);
  CHECK(error->next->code == CDI_TIMEOUT && error->next->next == NULL);
  cdi_free(error);
  CHECK(cdi_cache_edits(cache, unknown, 2, &error) == NULL && error->advice[0] != '\0');
  CHECK(error->next->code == CDI_INVALID_NAME && error->next->advice[0] != '\0');
  cdi_free(error);
  CHECK(remove(path) == 0 && cdi_cache_refresh(cache, NULL) == 0);
}

static void check_json(cdi_cache* cache) {
  cdi_error* error = NULL;
  char* json = cdi_cache_inject_json(cache, "{\"n\": 1.0}\n", device, 1, &error);
  CHECK(json != NULL && error == NULL && strstr(json, "{\"n\": 1.0, \"process\"") == json);
  cdi_free(json);
  CHECK(cdi_cache_inject_json(cache, "{\n x", device, 1, &error) == NULL);
  CHECK(error->code == CDI_SYNTAX && error->line == 2 && error->column == 2);
  CHECK(strstr(error->text, error->message) != NULL && error->file[0] == '\0');
  CHECK(strstr(error->message, "the config is invalid: ") == error->message);
  cdi_free(error);
  CHECK(cdi_cache_inject_json(cache, "{}", unknown, 2, NULL) == NULL);
}

static void check_again_and_partly(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_reasons* rest = NULL;
  const char* const names[] = {"bad", device[0]};
  char* once = cdi_cache_inject_resolvable(cache, "{}", names, 2, &rest, &error);
  CHECK(once != NULL && error == NULL && strstr(once, "/dev/d") != NULL);
  CHECK(rest != NULL && rest->count == 1 && strcmp(rest->items[0]->name, "bad") == 0);
  cdi_free(rest);
  char* twice = cdi_cache_inject_json(cache, once, device, 1, &error);
  CHECK(twice != NULL && strcmp(once, twice) == 0);
  cdi_free(twice);
  cdi_free(once);
  once = cdi_cache_inject_resolvable(cache, "{}", names, 1, NULL, NULL);
  CHECK(once != NULL && strcmp(once, "{}") == 0);
  cdi_free(once);
  CHECK(cdi_cache_inject_resolvable(cache, "{", names, 2, &rest, &error) == NULL);
  CHECK(rest == NULL && error->code == CDI_SYNTAX);
  cdi_free(error);
}

/* A policy that denies the hook and the mount of the device. */
static const char* const strict =
    "{\"rules\": [{\"name\": \"r\", \"allow\": true, \"sources\": [\"field\"],\n"
    "\"edits\": {\"hooks\": [], \"mounts\": [\"/usr\"]}}]}";

/* The cache under a policy; the policy is freed. */
static cdi_cache* limited(cdi_cache* cache, const char* text, const char* source) {
  cdi_error* error = NULL;
  cdi_policy* policy = cdi_policy_parse(text, NULL, &error);
  CHECK(policy != NULL && error == NULL);
  cdi_cache* made = cdi_cache_with_policy(cache, policy, source, &error);
  CHECK(made != NULL && error == NULL);
  cdi_free(policy);
  return made;
}

static void check_denied(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_reasons* rest = NULL;
  cdi_cache* denied = limited(cache, strict, "field");
  CHECK(cdi_cache_edits(denied, device, 1, &error) == NULL && error->code == CDI_REFUSED);
  CHECK(strcmp(error->where, "devices[0].containerEdits.hooks[0].path") == 0 && error->line != 0);
  const cdi_error* next = error->next;
  CHECK(next != NULL && next->code == CDI_REFUSED && next->next == NULL);
  CHECK(strcmp(next->where, "devices[0].containerEdits.mounts[0].hostPath") == 0);
  CHECK(strstr(next->text, "v.json:") != NULL && strstr(next->text, "by the rule \"r\"") != NULL);
  cdi_free(error);
  CHECK(cdi_cache_hookless_edits(denied, device, 1, NULL, NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_REFUSED && error->next != NULL);
  cdi_free(error);
  CHECK(cdi_cache_inject_json(denied, "{}", device, 1, &error) == NULL);
  CHECK(error->code == CDI_REFUSED && error->next != NULL);
  cdi_free(error);
  CHECK(cdi_cache_inject_resolvable(denied, "{}", device, 1, &rest, NULL) == NULL && rest == NULL);
  cdi_free(denied);
  denied = limited(cache, strict, NULL);
  CHECK(cdi_cache_edits(denied, device, 1, &error) == NULL && error->next == NULL);
  CHECK(error->code == CDI_REFUSED && strstr(error->text, "no rule") != NULL);
  cdi_free(error);
  cdi_free(denied);
}

static void check_allowed(cdi_cache* cache) {
  cdi_cache* allowed = limited(cache, "{\"rules\": [{\"name\": \"r\", \"allow\": true}]}", NULL);
  cdi_edits* edits = cdi_cache_edits(allowed, device, 1, NULL);
  CHECK(edits != NULL && edits->hook_count == 1 && edits->hooks[0]->env.count == 1);
  CHECK(strncmp(edits->hooks[0]->env.items[0], "PATH=/", 6) == 0);
  cdi_free(edits);
  char* json = cdi_cache_inject_json(allowed, "{}", device, 1, NULL);
  CHECK(json != NULL && strstr(json, "\"PATH=/") != NULL);
  cdi_free(json);
  cdi_free(allowed);
}

static void check_policies(cdi_cache* cache, const char* path) {
  cdi_error* error = NULL;
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fputs(strict, file) >= 0 && fclose(file) == 0);
  cdi_policy* policy = cdi_policy_open(path, &error);
  CHECK(policy != NULL && error == NULL && remove(path) == 0);
  CHECK(cdi_cache_with_policy(cache, policy, "cri", &error) == NULL && error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(cdi_cache_with_policy(cache, NULL, NULL, NULL) == NULL);
  CHECK(cdi_cache_with_policy(NULL, policy, NULL, NULL) == NULL);
  cdi_free(policy);
  CHECK(cdi_policy_open(path, &error) == NULL && error->system == ENOENT);
  cdi_free(error);
  CHECK(cdi_policy_parse("{\"rules\":\n1}", "p.json", &error) == NULL);
  CHECK(error->code == CDI_SCHEMA && strcmp(error->file, "p.json") == 0 && error->line == 2);
  cdi_free(error);
  CHECK(cdi_policy_open(NULL, NULL) == NULL && cdi_policy_parse(NULL, NULL, NULL) == NULL);
}

static void check_names(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_strings* devices = cdi_cache_devices(cache, &error);
  CHECK(devices != NULL && devices->count == 1 && strcmp(devices->items[0], device[0]) == 0);
  cdi_free(devices);
  cdi_reasons* reasons = cdi_cache_why(cache, unknown, 2, &error);
  CHECK(reasons != NULL && reasons->count == 2 && strcmp(reasons->items[1]->name, "bad") == 0);
  CHECK(strcmp(reasons->items[0]->code, "unknown-device") == 0 &&
        reasons->items[0]->advice[0] != 0);
  CHECK(strcmp(reasons->items[1]->code, "invalid-name") == 0);
  cdi_free(reasons);
  CHECK(cdi_cache_wait(cache, device, 1, 0, &error) == 0 && error == NULL);
  CHECK(cdi_cache_wait(cache, unknown, 2, 1000, &error) == -1);
  CHECK(error->code == CDI_NOT_FOUND && error->next->code == CDI_INVALID_NAME);
  CHECK(strstr(error->next->text, error->next->advice) == NULL);
  cdi_free(error);
  cdi_errors* errors = cdi_cache_errors(cache, NULL);
  CHECK(errors != NULL && errors->count == 0);
  cdi_free(errors);
}

static const char* const asking =
    "{\"annotations\": {\"cdi.k8s.io/a\": \"v.com/c=d\", \"x/a\": \"v.com/c=e\"},\n"
    " \"process\": {\"env\": [\"V=v.com/c=0\"]}}";

static void check_requested(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_strings* names = cdi_requested_devices(asking, NULL, NULL, &error);
  CHECK(names != NULL && names->count == 1 && strcmp(names->items[0], device[0]) == 0);
  cdi_free(names);
  names = cdi_requested_devices(asking, "x/", "V", &error);
  CHECK(names != NULL && names->count == 2 && strcmp(names->items[1], "v.com/c=0") == 0);
  cdi_free(names);
  CHECK(cdi_requested_devices("{\"annotations\":\n 1}", NULL, NULL, &error) == NULL);
  CHECK(error->code == CDI_SCHEMA && error->line == 2 &&
        strstr(error->text, "the config ") != NULL);
  cdi_free(error);
  char* json = cdi_cache_inject_requested(cache, asking, NULL, NULL, 0, &error);
  CHECK(json != NULL && strstr(json, "\"/dev/d\"") != NULL);
  cdi_free(json);
  CHECK(cdi_cache_inject_requested(cache, asking, "x/", NULL, 0, &error) == NULL);
  CHECK(error->code == CDI_NOT_FOUND && error->advice[0] != '\0');
  cdi_free(error);
  CHECK(cdi_cache_inject_requested(cache, asking, "x/", NULL, 1, &error) == NULL);
  CHECK(error->code == CDI_NOT_FOUND || error->code == CDI_TIMEOUT);
  cdi_free(error);
  json = cdi_cache_inject_requested(cache, " {} ", NULL, NULL, 1000, &error);
  CHECK(json != NULL && strcmp(json, " {} ") == 0);
  cdi_free(json);
  CHECK(cdi_cache_inject_requested(cache, NULL, NULL, NULL, 0, NULL) == NULL);
}

/* A policy sees where the config asks. */
static void check_requested_by_policy(cdi_cache* cache) {
  cdi_error* error = NULL;
  cdi_cache* of_requests = limited(
      cache, "{\"rules\": [{\"name\": \"r\", \"allow\": true, \"sources\": [\"annotation\"]}]}",
      NULL);
  char* json = cdi_cache_inject_requested(of_requests, asking, NULL, NULL, 0, &error);
  CHECK(json != NULL && error == NULL);
  cdi_free(json);
  cdi_free(of_requests);
  of_requests = limited(
      cache, "{\"rules\": [{\"name\": \"r\", \"allow\": true, \"sources\": [\"variable\"]}]}",
      NULL);
  CHECK(cdi_cache_inject_requested(of_requests, asking, NULL, NULL, 0, &error) == NULL);
  CHECK(error->code == CDI_REFUSED);
  cdi_free(error);
  cdi_free(of_requests);
}

static const char* const q_spec =
    "{\"cdiVersion\": \"0.7.0\", \"kind\": \"q.com/c\", \"devices\": ["
    "{\"name\": \"d\", \"containerEdits\": {\"env\": [\"A=1\"]}}]}";

static void put(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Calls one of the functions that check the files. */
static void check_files(cdi_cache* cache, int function) {
  const char* const names[] = {"q.com/c=d"};
  errno = ENOTTY;
  if (function == 0) CHECK(cdi_cache_refresh(cache, NULL) == 0);
  if (function == 1) CHECK(cdi_cache_wait(cache, names, 1, 10000, NULL) == 0);
  if (function == 2) cdi_free(cdi_cache_errors(cache, NULL));
  if (function == 3) cdi_free(cdi_cache_why(cache, names, 1, NULL));
  if (function == 4) cdi_free(cdi_cache_edits(cache, names, 1, NULL));
  CHECK(errno == ENOTTY);
}

/* Each function takes the events: otherwise a loop of poll would never end. Other programs may
 * cause further events, because the directories above are watched, too. */
static void check_events(cdi_cache* cache, const char* path, struct pollfd* poller) {
  for (int i = 0; i < 5; ++i) {
    put(path, q_spec);
    CHECK(poll(poller, 1, 10000) == 1);
    int calls = 0;
    do {
      check_files(cache, i);
    } while (poll(poller, 1, 0) != 0 && ++calls < 100);
    CHECK(calls < 100);
  }
}

/* The last valid contents of a file stay in use, unless a flag says no. */
static void check_last_valid(const char* dir, const char* path) {
  const char* const dirs[] = {dir};
  for (int i = 0; i < 2; ++i) {
    cdi_cache* cache = cdi_cache_open_with(dirs, 1, i == 0 ? 0 : CDI_FORGET_INVALID, NULL);
    put(path, q_spec);
    const char* const names[] = {"q.com/c=d"};
    CHECK(cdi_cache_wait(cache, names, 1, 10000, NULL) == 0);
    put(path, "");
    cdi_error* error = NULL;
    cdi_edits* edits = cdi_cache_edits(cache, names, 1, &error);
    CHECK((edits != NULL) == (i == 0));
    cdi_free(edits);
    cdi_free(error);
    cdi_errors* errors = cdi_cache_errors(cache, NULL);
    CHECK(errors != NULL && errors->count == 1);
    cdi_free(errors);
    cdi_free(cache);
  }
}

static void check_flags(const char* dir) {
  const char* const dirs[] = {dir};
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open_with(dirs, 1, CDI_WATCHED | CDI_QUARANTINE, &error);
  CHECK(cache != NULL && error == NULL);
  struct pollfd poller = {cdi_cache_descriptor(cache, &error), POLLIN, 0};
  CHECK(poller.fd >= 0 && error == NULL);
  cdi_free(cdi_cache_devices(cache, NULL));
  char path[4096];
  CHECK((size_t)snprintf(path, sizeof path, "%s/q.json", dir) < sizeof path);
  put(path,
      "{\"cdiVersion\": \"0.7.0\", \"kind\": \"q.com/c\", \"devices\": ["
      "{\"name\": \"d\", \"containerEdits\": {\"env\": [\"A=1\"]}},"
      "{\"name\": \"e\"}]}");
  CHECK(poll(&poller, 1, 10000) == 1 && (poller.revents & POLLIN) != 0);
  cdi_strings* devices = cdi_cache_devices(cache, NULL);
  CHECK(devices != NULL && devices->count == 2 && strcmp(devices->items[0], "q.com/c=d") == 0);
  cdi_free(devices);
  check_events(cache, path, &poller);
  cdi_free(cache);
  check_last_valid(dir, path);
  put(path, q_spec);
  CHECK(chmod(path, 0666) == 0);
  cache = cdi_cache_open_with(dirs, 1, CDI_QUARANTINE | CDI_REFUSE_WRITABLE, NULL);
  CHECK(cdi_cache_descriptor(cache, &error) == -1 && error->code == CDI_INVALID);
  cdi_free(error);
  const char* const names[] = {"q.com/c=d"};
  CHECK(cdi_cache_edits(cache, names, 1, &error) == NULL && error->code == CDI_REFUSED);
  CHECK(strcmp(error->file, path) == 0 && strstr(error->advice, "chmod go-w") != NULL);
  cdi_free(error);
  cdi_free(cache);
  CHECK(cdi_cache_open_with(dirs, 1, 64, &error) == NULL && error->code == CDI_UNSUPPORTED);
  cdi_free(error);
  CHECK(cdi_cache_descriptor(NULL, NULL) == -1 && remove(path) == 0);
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

/* Frees all that a thread has while its cancellation is pending: that acts after it. */
static void* free_cancelled(void* dir) {
  const char* const dirs[] = {dir};
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open_with(dirs, 1, CDI_WATCHED, &error);
  cdi_publisher* publisher = cdi_publisher_open("use_cdi", dir, NULL);
  CHECK(cache != NULL && publisher != NULL && pthread_cancel(pthread_self()) == 0);
  cdi_free(cdi_cache_devices(cache, NULL));
  CHECK(cdi_cache_devices(NULL, &error) == NULL);
  cdi_free(error);
  cdi_free(cache); /* closes a descriptor */
  cdi_free(publisher);
  *(char*)dir = '!';
  pthread_testcancel();
  return NULL;
}

static void check_cancelled(const char* dir) {
  char given[4096];
  void* result = NULL;
  pthread_t thread;
  CHECK((size_t)snprintf(given, sizeof given, "%s", dir) < sizeof given);
  CHECK(pthread_create(&thread, NULL, free_cancelled, given) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && given[0] == '!');
}

static void check_texts(void) {
  const char* const keys[] = {"cdi.k8s.io/a", "other"};
  const char* const values[] = {"v.com/c=d,v.com/c=e,v.com/c=d", "x"};
  cdi_error* error = NULL;
  cdi_strings* names = cdi_annotated_devices(keys, values, 2, NULL, &error);
  CHECK(names != NULL && names->count == 2 && strcmp(names->items[1], "v.com/c=e") == 0);
  cdi_free(names);
  CHECK(cdi_annotated_devices(keys, values, 2, "o", &error) == NULL);
  CHECK(error->code == CDI_INVALID_NAME);
  cdi_free(error);
  cdi_errors* warnings = cdi_validate(spec, "v.json", &error);
  CHECK(warnings != NULL && warnings->count == 0);
  cdi_free(warnings);
  warnings = cdi_validate(
      "# YAML\ncdiVersion: 0.7.0\nkind: v.com/c\ndevices: [{name: d, "
      "containerEdits: {env: [A=1]}}]\n",
      "v.json", &error);
  CHECK(warnings != NULL && warnings->count == 1);
  cdi_free(warnings);
  CHECK(cdi_validate("kind: v/c\ncdiVersion: 9.9.9\n", "v.yaml", &error) == NULL);
  CHECK(strcmp(error->file, "v.yaml") == 0 && error->line != 0);
  cdi_free(error);
  CHECK(cdi_validate("{\"cdiVersion\": \"0.7.0\", \"x\\u0000y\": 1}", NULL, &error) == NULL);
  CHECK(strcmp(error->where, "x\\x00y") == 0);
  cdi_free(error);
}

static void check_publisher(cdi_publisher* publisher) {
  const char* const names[] = {"v.json", "v.json"};
  const char* const specs[] = {spec, spec};
  cdi_error* error = NULL;
  CHECK(cdi_publisher_reconcile(publisher, names, specs, 1, NULL, &error) == 0 && error == NULL);
  CHECK(cdi_publisher_reconcile(publisher, names, specs, 2, NULL, &error) == -1);
  CHECK(error->code == CDI_INVALID && error->next == NULL);
  cdi_free(error);
  CHECK(cdi_publisher_write(publisher, "x", spec, &error) == -1 && error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(cdi_publisher_write(publisher, "v.json", "{", NULL) == -1);
}

static const char* const other =
    "{\"cdiVersion\": \"0.7.0\", \"kind\": \"w.com/c\","
    " \"devices\": [{\"name\": \"d\", \"containerEdits\": {\"env\": [\"A=1\"]}}]}";

static void check_errors_of_files(cdi_publisher* publisher) {
  const char* const names[] = {"a.json", "v.json", "b.json"};
  const char* const wrong[] = {"{", spec, "{}"};
  const char* const good[] = {other, spec};
  cdi_error* error = NULL;
  CHECK(cdi_publisher_reconcile(publisher, names, wrong, 3, NULL, &error) == -1);
  CHECK(strcmp(error->file, "a.json") == 0 && error->code == CDI_SYNTAX && error->next != NULL);
  CHECK(strcmp(error->next->file, "b.json") == 0 && error->next->next == NULL);
  cdi_free(error);
  CHECK(cdi_publisher_reconcile(publisher, names, NULL, 1, NULL, &error) == -1);
  CHECK(error->code == CDI_INVALID && strcmp(error->file, "a.json") == 0);
  cdi_free(error);
  CHECK(cdi_publisher_remove(publisher, "v.json", NULL) == 0);
  struct rlimit before;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  struct rlimit small = {16, before.rlim_max};
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  int result = cdi_publisher_reconcile(publisher, names, good, 2, NULL, &error);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0 && result == -1);
  CHECK(error->code == CDI_SYSTEM && error->system == EFBIG && error->next != NULL);
  CHECK(strstr(error->file, "a.json") != NULL && strstr(error->next->file, "v.json") != NULL);
  cdi_free(error);
  CHECK(cdi_publisher_write(publisher, "v.json", spec, NULL) == 0);
}

/* A file whose owner is not known, because it is too large to be read, stays. */
static void check_unreadable(cdi_publisher* publisher, const char* dir) {
  char path[4096];
  cdi_error* error = NULL;
  CHECK((size_t)snprintf(path, sizeof path, "%s/large.json", dir) < sizeof path);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fclose(file) == 0 && truncate(path, 17 * 1024 * 1024) == 0);
  const char* const names[] = {"v.json"};
  cdi_errors* unread = NULL;
  CHECK(cdi_publisher_write(publisher, "old.json", other, &error) == 0);
  CHECK(cdi_publisher_reconcile(publisher, names, &spec, 1, &unread, &error) == 0 && error == NULL);
  CHECK(unread != NULL && unread->count == 1 && unread->items[0]->code == CDI_LIMIT);
  CHECK(strcmp(unread->items[0]->file, path) == 0 && access(path, F_OK) == 0);
  cdi_free(unread);
  CHECK(cdi_publisher_reconcile(publisher, names, &spec, 1, NULL, NULL) == 0);
  CHECK((size_t)snprintf(path, sizeof path, "%s/old.json", dir) < sizeof path);
  CHECK(access(path, F_OK) != 0); /* it was removed nevertheless */
  CHECK((size_t)snprintf(path, sizeof path, "%s/large.json", dir) < sizeof path);
  const char* const needed[] = {"large.json"};
  CHECK(cdi_publisher_reconcile(publisher, needed, &other, 1, &unread, &error) == -1);
  CHECK(unread == NULL && error->code == CDI_LIMIT && strcmp(error->file, path) == 0);
  cdi_free(error);
  CHECK(access(path, F_OK) == 0 && remove(path) == 0);
}

static void check_null(void) {
  cdi_error* error = NULL;
  const char* const none[] = {NULL};
  const char* const second[] = {"v.com/c=d", NULL};
  const char* const empty[] = {""};
  CHECK(cdi_cache_devices(NULL, &error) == NULL && error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(cdi_cache_open(empty, 1, NULL) == NULL && cdi_publisher_open("use_cdi", "", NULL) == NULL);
  CHECK(cdi_annotated_devices(second, second, 2, NULL, &error) == NULL);
  CHECK(error->code == CDI_INVALID && strstr(error->text, "keys[1]") != NULL);
  cdi_free(error);
  CHECK(cdi_policy_open("", &error) == NULL && error->code == CDI_INVALID);
  cdi_free(error);
  CHECK(cdi_cache_open(none, 1, NULL) == NULL && cdi_validate(NULL, NULL, NULL) == NULL);
  CHECK(cdi_cache_refresh(NULL, NULL) == -1 && cdi_publisher_open(NULL, NULL, NULL) == NULL);
  CHECK(cdi_publisher_write(NULL, NULL, NULL, NULL) == -1);
  CHECK(cdi_publisher_reconcile(NULL, NULL, NULL, 1, NULL, NULL) == -1);
  CHECK(cdi_publisher_remove(NULL, "v.json", NULL) == -1);
  cdi_free(NULL);
}

static void check_cache(cdi_cache* cache, const char* dir) {
  char path[4096];
  CHECK((size_t)snprintf(path, sizeof path, "%s/policy", dir) < sizeof path);
  check_names(cache);
  check_json(cache);
  check_again_and_partly(cache);
  check_edits(cache);
  check_hookless(cache, dir);
  check_rejected(cache, dir);
  check_denied(cache);
  check_allowed(cache);
  check_policies(cache, path);
  check_requested(cache);
  check_requested_by_policy(cache);
  check_flags(dir);
  /* A cancelled thread leaves its frames poisoned, in which its last functions then run. */
  if (!HAS_ADDRESS_SANITIZER) check_cancelled(dir);
}

int main(int argc, char** argv) {
  CHECK(argc == 2 && strlen(cdi_version()) >= 5);
  cdi_error* error = NULL;
  cdi_publisher* publisher = cdi_publisher_open("use_cdi", argv[1], &error);
  CHECK(publisher != NULL && cdi_publisher_write(publisher, "v.json", spec, &error) == 0);
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  CHECK(cache != NULL && cdi_cache_refresh(cache, &error) == 0);
  check_cache(cache, argv[1]);
  check_texts();
  check_publisher(publisher);
  check_errors_of_files(publisher);
  check_unreadable(publisher, argv[1]);
  check_null();
  CHECK(cdi_publisher_remove(publisher, "v.json", &error) == 0);
  CHECK(cdi_cache_refresh(cache, &error) == 0 && error == NULL);
  cdi_strings* devices = cdi_cache_devices(cache, &error);
  CHECK(devices != NULL && devices->count == 0);
  cdi_free(devices);
  cdi_free(cache);
  cdi_free(publisher);
  return 0;
}
