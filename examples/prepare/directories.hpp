// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_DIRECTORIES_HPP
#define CDI_PREPARE_DIRECTORIES_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <cdi/descriptor.hpp>
#include <cdi/result.hpp>

namespace prepare {

/// Makes what was done to the names of a directory survive a crash of the host.
inline cdi::Result<void> sync_directory(const std::string& path) {
  const cdi::Descriptor directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems cannot sync directories, and say so with EINVAL.
  if (directory && (::fsync(directory.get()) == 0 || errno == EINVAL)) return {};
  return cdi::file_error(path, "cannot sync the directory");
}

/// Makes a directory and those above it that are missing, open to readers whatever the umask is.
inline cdi::Result<void> make_directories(const std::string& path) {
  for (std::size_t end = 0, begin = 0; end < path.size(); begin = end) {
    end = std::min(path.find('/', end + 1), path.size());
    const auto directory = path.substr(0, end);
    // Not changed afterwards: whoever is killed in between would leave a closed directory.
    const auto mask = ::umask(022);
    const bool made = ::mkdir(directory.c_str(), 0755) == 0;
    ::umask(mask);
    if (!made && errno == EEXIST) continue;
    if (!made) return cdi::file_error(directory, "cannot make the directory");
    const auto above = begin == 0 ? (path.starts_with('/') ? "/" : ".") : path.substr(0, begin);
    static_cast<void>(sync_directory(above));  // one that cannot be read can have others in it
  }
  return {};
}

}  // namespace prepare

#endif  // CDI_PREPARE_DIRECTORIES_HPP
