// The error of a writer that may not write to its directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_DENIED_HPP
#define CDI_TOOLS_KIT_HOST_DENIED_HPP

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/access.hpp>
#include <cdi/result.hpp>

namespace tools {

/// Adds the access to a directory, or to the next one above that exists, to an error that a missing
/// right has caused, and what to do: `option` chooses another directory.
inline cdi::Error with_denied_access(cdi::Error error, const std::filesystem::path& directory,
                                     std::string_view option) {
  if (error.system != EACCES && error.system != EPERM) return error;
  if (error.message.find("this process is user") == std::string::npos) {
    auto there = directory;
    struct stat info = {};
    while (::stat(there.c_str(), &info) != 0 && there.has_relative_path()) {
      there = there.has_parent_path() ? there.parent_path() : ".";
    }
    error.message += " in " + cdi::quoted(there.string());
    error = cdi::detail::with_access(std::move(error), info);
  }
  if (::geteuid() != 0 && error.advice.empty()) {
    error.advice =
        fmt::format("run this as root, or choose a directory of your own with {}", option);
  }
  return error;
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_DENIED_HPP
