// Where a program is.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/text.hpp"

namespace tools {

/// Whether a path is the program of this process.
inline bool is_this_program(const std::string& path) {
  struct stat self = {};
  struct stat other = {};
  return ::stat("/proc/self/exe", &self) == 0 && ::stat(path.c_str(), &other) == 0 &&
         self.st_dev == other.st_dev && self.st_ino == other.st_ino;
}

/// The path of another program: as given, or looked up in PATH. Empty if there is none; this
/// program may have the same name, and must not start itself for ever.
inline std::string path_of_program(const std::string& name) {
  if (name.find('/') != name.npos) return is_this_program(name) ? std::string{} : name;
  const char* const given = std::getenv("PATH");
  const std::string_view usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const auto& folder : split(given == nullptr ? usual : given, ":")) {
    auto path = folder + "/" + name;
    struct stat info = {};
    const bool is_file = ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    if (is_file && ::access(path.c_str(), X_OK) == 0 && !is_this_program(path)) return path;
  }
  return {};
}

}  // namespace tools
