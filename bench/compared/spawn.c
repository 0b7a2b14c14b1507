/* spawn ROW RUNS COMMAND...: prints the median time from the spawn of a command to its exit, in
   microseconds, and the largest peak memory, in kB. The output of the command is dropped.

   SPDX-License-Identifier: Apache-2.0 OR MIT */

#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Runs the command, and returns its peak memory. */
static long run(char** command, const posix_spawn_file_actions_t* files) {
  struct rusage used;
  pid_t child;
  int status;
  if (posix_spawn(&child, command[0], files, NULL, command, environ) != 0 ||
      wait4(child, &status, 0, &used) != child || status != 0) {
    fprintf(stderr, "spawn: %s failed\n", command[0]);
    exit(1);
  }
  return used.ru_maxrss;
}

static int by_time(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int runs = atoi(argv[2]);
  double* const times = malloc((size_t)runs * sizeof *times);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  long peak = 0;
  for (int i = 0; i < runs; ++i) {
    const double start = now_us();
    const long used = run(argv + 3, &files);
    times[i] = now_us() - start;
    if (used > peak) peak = used;
  }
  qsort(times, (size_t)runs, sizeof *times, by_time);
  printf("%s %.4f\n%s_peak %ld\n", argv[1], times[runs / 2], argv[1], peak);
  return 0;
}
