// The `stat` data of a file: equal signatures mean an unchanged file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_SIGNATURE_HPP
#define CDI_FILES_SIGNATURE_HPP

#include <cstdint>
#include <ctime>
#include <sys/stat.h>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The `stat` data of a file or directory. Equal signatures mean equal contents if `is_stable` is
/// true for the first signature.
struct Signature {
  std::uint64_t device = 0;      ///< the file system
  std::uint64_t inode = 0;       ///< the inode number; 0 if there is no file
  std::uint64_t mode = 0;        ///< type and permissions, as in `st_mode`
  std::int64_t size = 0;         ///< in bytes
  std::int64_t modified = 0;     ///< seconds since 1970; programs can set this time
  std::int64_t modified_ns = 0;  ///< its nanoseconds
  std::int64_t changed = 0;      ///< seconds since 1970; each `write` sets it, but programs cannot
  std::int64_t changed_ns = 0;   ///< its nanoseconds; 0 on file systems with whole seconds

  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Makes a signature from the result of `stat` or `fstat`.
inline Signature signature_of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .mode = info.st_mode,
          .size = info.st_size,
          .modified = info.st_mtim.tv_sec,
          .modified_ns = info.st_mtim.tv_nsec,
          .changed = info.st_ctim.tv_sec,
          .changed_ns = info.st_ctim.tv_nsec};
}

/// Returns the time of the file-system clock since 1970. Read the clock before calling `stat`.
timespec file_clock();

/// Returns the milliseconds from the file's last change to `now`; 0 if the change is in the future.
std::int64_t age_of(const Signature& signature, const timespec& now);

/// Returns whether every `write` after `now` changes this signature, which was taken at `now`. File
/// systems advance times in steps: a clock tick of at most 10 ms, or one or two seconds if they
/// store whole seconds. Two changes within one step leave the same times. (Writes through a shared
/// memory map need not change the times at all.)
bool is_stable(const Signature& signature, const timespec& now);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/signature.inl>
#endif

#endif  // CDI_FILES_SIGNATURE_HPP
