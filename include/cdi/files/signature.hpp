// What `stat` says of a file: equal signatures mean an unchanged file.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SIGNATURE_HPP
#define CDI_FILES_SIGNATURE_HPP

#include <cstdint>
#include <ctime>
#include <sys/stat.h>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What a `stat` tells of a file or directory; while it stays the same, so does the content, once
/// `is_settled`.
struct Signature {
  std::uint64_t device = 0;      ///< the file system it is on
  std::uint64_t inode = 0;       ///< its number there; 0 when nothing was looked at
  std::uint64_t mode = 0;        ///< kind and permissions, as `st_mode`
  std::int64_t size = 0;         ///< bytes
  std::int64_t modified = 0;     ///< seconds since 1970, which programs can set
  std::int64_t modified_ns = 0;  ///< and nanoseconds
  std::int64_t changed = 0;     ///< likewise; every `write` sets it, and no program can set it back
  std::int64_t changed_ns = 0;  ///< and nanoseconds; 0 where file systems keep whole seconds

  friend bool operator==(const Signature&, const Signature&) = default;
};

/// The signature in what `stat` or `fstat` gave.
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

/// The time that file systems set, since 1970: to be read before the file is looked at.
timespec file_clock();

/// How long before `now` the file was changed, in milliseconds; 0 when the time is to come.
std::int64_t age_of(const Signature& signature, const timespec& now);

/// Whether a `write` after `now` is sure to change the signature too, taken at `now`. File systems
/// set times in steps: of a clock tick, at most 10 ms, or of one or two seconds where no part of a
/// second is kept. Two changes inside a step leave the same times. (What is written through a
/// shared memory map need not change them at all.)
bool is_settled(const Signature& signature, const timespec& now);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/impl/signature.hpp>
#endif

#endif  // CDI_FILES_SIGNATURE_HPP
