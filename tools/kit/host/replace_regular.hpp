// Replaces a file that a user names on the command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_REPLACE_REGULAR_HPP
#define CDI_TOOLS_KIT_HOST_REPLACE_REGULAR_HPP

#include <string>
#include <string_view>
#include <sys/stat.h>

#include <cdi/files/replace_file.hpp>
#include <cdi/result.hpp>

namespace tools {

/// Writes a new file, or replaces a regular file. Fails with `Errc::denied` and the advice, and
/// leaves the path as it is, if it is anything else, such as a device node, a FIFO or a link.
inline cdi::Result<void> replace_regular(const std::string& path, std::string_view text,
                                         const std::string& advice,
                                         const cdi::FileAttributes& attributes = {}) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = "not a regular file",
                      .advice = advice,
                      .position = {.file = path}};
  }
  return cdi::replace_file(path, text, attributes);
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_REPLACE_REGULAR_HPP
