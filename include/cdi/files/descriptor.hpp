// `Descriptor`, which owns a file descriptor, and the errors of system calls.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_DESCRIPTOR_HPP
#define CDI_FILES_DESCRIPTOR_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A file descriptor that closes itself. Movable, not copyable.
class Descriptor {
 public:
  /// Takes ownership of the result of `open`; a negative number means that there is no descriptor.
  explicit Descriptor(int number) : number_{number} {}
  /// Takes over the descriptor of another object, which then owns none.
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  /// Swaps the descriptors, so that the other object closes this object's old one.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  /// Closes the descriptor, if there is one.
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  /// Returns the descriptor, which remains owned; negative if there is none.
  int get() const { return number_; }
  /// Gives up ownership: the caller must close the descriptor.
  int release() { return std::exchange(number_, -1); }
  /// Returns whether this object owns a descriptor.
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// Makes an `Errc::system` error from `errno` for an action on a file. Call it directly after the
/// failed system call. `to_string` gives `PATH: cannot open the file: Permission denied`.
Error file_error(std::string_view path, std::string_view action);

/// Reads an open file from its current offset to its end, and leaves it open. Fails with
/// `Errc::limit` beyond `limit` bytes, and with `Errc::system` if a read fails. `path` appears in
/// messages. `expected` is 0 or the size of a regular file, which is then read in one call.
Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                             std::size_t expected = 0);

namespace detail {

Error over_limit(std::string_view path, std::size_t limit);

/// Calls `openat`, but fails for a name with a NUL byte, where the system would cut it off.
int open_at(int directory, const std::string& name, int flags);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/descriptor.inl>
#endif

#endif  // CDI_FILES_DESCRIPTOR_HPP
