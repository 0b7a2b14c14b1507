// A library whose readdir fails, to be preloaded.
// SPDX-License-Identifier: Apache-2.0 OR MIT

// For LD_PRELOAD: a disk that fails. All names of the directory FAILING_READDIR can be read, and
// where its end would be is an error.

#undef _FILE_OFFSET_BITS  // else both functions below have one name

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

bool is_failing(DIR* directory) {
  const char* const failing = std::getenv("FAILING_READDIR");
  const auto link = "/proc/self/fd/" + std::to_string(::dirfd(directory));
  char path[PATH_MAX];
  const auto size = ::readlink(link.c_str(), path, sizeof path);
  return failing != nullptr && size > 0 &&
         std::string_view{path, static_cast<std::size_t>(size)} == failing;
}

template <typename Entry>
Entry* read_next(const char* name, DIR* directory) {
  const auto entry = reinterpret_cast<Entry* (*)(DIR*)>(::dlsym(RTLD_NEXT, name))(directory);
  if (entry == nullptr && is_failing(directory)) errno = EIO;
  return entry;
}

}  // namespace

extern "C" {

dirent* readdir(DIR* directory) {
  return read_next<dirent>("readdir", directory);
}

dirent64* readdir64(DIR* directory) {
  return read_next<dirent64>("readdir64", directory);
}
}
