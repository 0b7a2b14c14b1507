// A library that replaces each new node by a link, to be preloaded.
// SPDX-License-Identifier: Apache-2.0 OR MIT

// For LD_PRELOAD: another program, which may write to /dev of a root, and is fast. Each new node
// becomes a link to the file SWAPPING_MKNOD.

#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int mknodat(int directory, const char* name, mode_t mode, dev_t number) {
  using Function = int (*)(int, const char*, mode_t, dev_t);
  const auto made =
      reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "mknodat"))(directory, name, mode, number);
  const char* const target = std::getenv("SWAPPING_MKNOD");
  if (made != 0 || target == nullptr) return made;
  ::unlinkat(directory, name, 0);
  return ::symlinkat(target, directory, name);
}
