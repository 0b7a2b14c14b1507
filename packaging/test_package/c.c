/* Injects into an OCI config, with the library for programs in C. */
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include <cdi/cdi.h>

int main(void) {
  const char* const dirs[] = {"/nowhere/cdi"};
  const char* const names[] = {"v.com/c=d"};
  cdi_error* error = NULL;
  cdi_cache* cache = cdi_cache_open(dirs, 1, &error);
  if (cache == NULL) return 1;
  const char* injected = cdi_cache_inject_json(cache, "{}", names, 1, &error);
  int result = injected == NULL && error->code == CDI_NOT_FOUND ? 0 : 1;
  cdi_free(injected);
  cdi_free(error);
  cdi_free(cache);
  return result;
}
