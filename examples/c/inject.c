/* Prints a config.json with devices injected: inject DIR CONFIG NAME... */
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include <stdio.h>
#include <stdlib.h>

#include <cdi/cdi.h>

/* Returns the text of a whole file; NULL if reading fails. */
static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  size_t size = 0;
  size_t room = 0;
  if (file == NULL) return NULL;
  for (;;) {
    if (room - size < 2) {
      char* larger = realloc(text, room = 2 * room + 4096);
      if (larger == NULL) {
        free(text);
        text = NULL;
        break;
      }
      text = larger;
    }
    size_t got = fread(text + size, 1, room - size - 1, file);
    size += got;
    text[size] = '\0';
    if (got == 0) break;
  }
  if (ferror(file) != 0) {
    free(text);
    text = NULL;
  }
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: inject DIR CONFIG NAME...\n");
    return 2;
  }
  char* config = read_file(argv[2]);
  if (config == NULL) {
    perror(argv[2]);
    return 1;
  }
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(argv + 1, 1, &error);
  char* injected = NULL;
  if (cache != NULL) {
    injected = cdi_cache_inject_json(cache, config, argv + 3, (size_t)argc - 3, &error);
  }
  if (injected != NULL) fputs(injected, stdout);
  if (error != NULL) {
    fprintf(stderr, "inject: %s\n", error->text);
    if (error->advice[0] != '\0') fprintf(stderr, "  fix: %s\n", error->advice);
  }
  int result = error == NULL ? 0 : 1;
  cdi_free(injected);
  cdi_free(error);
  cdi_free(cache);
  free(config);
  return result;
}
