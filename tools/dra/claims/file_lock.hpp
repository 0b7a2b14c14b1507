// A lock that processes take by a file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_FILE_LOCK_HPP
#define CDI_TOOLS_DRA_CLAIMS_FILE_LOCK_HPP

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <thread>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

namespace dra {

/// A lock on a file, as `flock` of the kernel has it. It ends with the object or the process.
class FileLock {
 public:
  /// Waits for the lock while `goes_on` returns true. Makes the file, but not its directory.
  /// `Errc::timeout` if other processes keep the lock.
  template <class GoesOn>
  static cdi::Result<FileLock> open(const std::string& path, const GoesOn& goes_on) {
    constexpr std::chrono::milliseconds pause{5};
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    cdi::Descriptor file{::open(path.c_str(), flags, 0600)};
    if (!file) return cdi::file_error(path, "cannot open the lock");
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return cdi::file_error(path, "cannot lock");
      if (!goes_on()) {
        return cdi::Error{.code = cdi::Errc::timeout,
                          .message = "another process holds the lock",
                          .advice = "try again",
                          .position = {.file = path}};
      }
      std::this_thread::sleep_for(pause);
    }
    return FileLock{std::move(file)};
  }

 private:
  explicit FileLock(cdi::Descriptor file) : file_{std::move(file)} {}

  cdi::Descriptor file_;
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIMS_FILE_LOCK_HPP
