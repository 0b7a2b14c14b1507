// What `stat` returns for a file: equal signatures mean an unchanged file.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SIGNATURE_HPP
#define CDI_FILES_SIGNATURE_HPP

#include <cstdint>
#include <ctime>
#include <sys/stat.h>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What `stat` returns for a file or directory. Equal signatures mean equal content, if the first
/// one `is_settled`.
struct Signature {
  std::uint64_t device = 0;      ///< the file system it is on
  std::uint64_t inode = 0;       ///< its number there; 0 if there is no file
  std::uint64_t mode = 0;        ///< kind and permissions, as `st_mode`
  std::int64_t size = 0;         ///< bytes
  std::int64_t modified = 0;     ///< seconds since 1970, which programs can set
  std::int64_t modified_ns = 0;  ///< and nanoseconds
  std::int64_t changed = 0;     ///< likewise; each `write` sets it, and programs cannot set it back
  std::int64_t changed_ns = 0;  ///< and nanoseconds; 0 on file systems with whole seconds

  friend bool operator==(const Signature&, const Signature&) = default;
};

/// The signature from the result of `stat` or `fstat`.
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

/// The clock of file systems, since 1970. Read it before the `stat`.
timespec file_clock();

/// How long before `now` the file was changed, in milliseconds; 0 for a time in the future.
std::int64_t age_of(const Signature& signature, const timespec& now);

/// Whether each `write` after `now` changes this signature, which was taken at `now`. File systems
/// set times in steps: of a clock tick, at most 10 ms, or of one or two seconds if they keep whole
/// seconds. Two changes in one step leave the same times. (Writes through a shared memory map need
/// not change the times at all.)
bool is_settled(const Signature& signature, const timespec& now);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/signature.inl>
#endif

#endif  // CDI_FILES_SIGNATURE_HPP
