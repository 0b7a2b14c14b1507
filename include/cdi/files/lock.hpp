// `FileLock`: a lock on a file or directory, of one process at a time.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_LOCK_HPP
#define CDI_FILES_LOCK_HPP

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Locks an open file or directory as flock(2) does; `operation` is `LOCK_EX` or `LOCK_SH`. Waits
/// while another process has the lock and `goes_on`, called every 5 ms, returns true. Returns false
/// on failure, with `errno`: `EWOULDBLOCK` if another process has the lock. The lock lasts until
/// all copies of the descriptor close.
template <class GoesOn>
bool lock(int descriptor, int operation, const GoesOn& goes_on) {
  while (::flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return false;
    if (!goes_on()) {
      errno = EWOULDBLOCK;
      return false;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

/// The same, for one process, without waiting.
inline bool try_lock(int descriptor) {
  return lock(descriptor, LOCK_EX, [] { return false; });
}

}  // namespace detail

/// A lock on a file, which only serves as a lock. It ends with the object or the process.
class FileLock {
 public:
  /// No lock.
  FileLock() = default;

  /// Opens a file in an open directory, or makes it, and waits for its lock as long as `goes_on()`
  /// is true, which is asked every 5 ms. `path` is for messages. `Errc::timeout` if other processes
  /// keep the lock, otherwise `Errc::system`.
  template <class GoesOn>
  static Result<FileLock> open(int directory, const std::string& name, const std::string& path,
                               const GoesOn& goes_on) {
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    Descriptor file{::openat(directory, name.c_str(), flags, 0600)};
    if (!file) return file_error(path, "cannot open the lock");
    if (detail::lock(file.get(), LOCK_EX, goes_on)) return FileLock{std::move(file)};
    if (errno != EWOULDBLOCK) return file_error(path, "cannot lock");
    return Error{.code = Errc::timeout,
                 .message = "another process holds the lock",
                 .advice = "try again",
                 .position = {.file = path}};
  }

 private:
  explicit FileLock(Descriptor file) : file_{std::move(file)} {}

  Descriptor file_{-1};
};

}  // namespace cdi

#endif  // CDI_FILES_LOCK_HPP
