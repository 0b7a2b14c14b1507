/* Prints what a program in a container finds: libraries by name, device nodes and variables.
 * judge [NODE...]
 * Each line is a key, a space and a value. With -DSTATIC, no library is asked for. A copy of this
 * program that is named `env` sets variables and runs a command, as env(1) does.
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef STATIC
#include <dlfcn.h>
#include <link.h>

/* In a process of its own: the linker knows a library that it loaded under another name. */
static void look_up_library(const char* name) {
  struct link_map* map = NULL;
  int (*version)(void) = NULL;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    void* library = dlopen(name, RTLD_NOW);
    if (library == NULL) {
      printf("%s none %s\n", name, dlerror());
    } else if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
      printf("%s no map\n", name);
    } else {
      *(void**)&version = dlsym(library, "driver_version");
      printf("%s %s %d\n", name, map->l_name, version == NULL ? -1 : version());
    }
    exit(0);
  }
  waitpid(child, NULL, 0);
}
#endif

static void look_up_node(const char* path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode)) {
    printf("%s none\n", path);
    return;
  }
  printf("%s %u:%u\n", path, major(info.st_rdev), minor(info.st_rdev));
}

int main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  if (strcmp(slash == NULL ? argv[0] : slash + 1, "env") == 0) {
    int i = 1;
    for (; i < argc && strchr(argv[i], '=') != NULL; ++i) putenv(argv[i]);
    if (i < argc) execvp(argv[i], argv + i);
    return perror("env"), 127;
  }
#ifndef STATIC
  look_up_library("libfakecuda.so.1");
  look_up_library("libfakecuda.so");
  look_up_library("libcuda.so.1");
  look_up_library("libcuda.so");
#endif
  for (int i = 1; i < argc; ++i) look_up_node(argv[i]);
  const char* gpu = getenv("GPU");
  const char* folders = getenv("LD_LIBRARY_PATH");
  printf("GPU %s\n", gpu == NULL ? "none" : gpu);
  printf("LD_LIBRARY_PATH %s\n", folders == NULL ? "none" : folders);
  int made = open("/made", O_WRONLY | O_CREAT, 0600);
  printf("root %s\n", made < 0 ? "read-only" : "writable");
  return 0;
}
