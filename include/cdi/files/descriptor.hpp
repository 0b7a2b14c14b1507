// `Descriptor`: owns a file descriptor; and errors of system calls.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_DESCRIPTOR_HPP
#define CDI_FILES_DESCRIPTOR_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A file descriptor that closes itself. Movable, not copyable.
class Descriptor {
 public:
  /// Owns the result of `open`; a negative one means that there is no descriptor.
  explicit Descriptor(int number) : number_{number} {}
  /// Takes the descriptor of another object, which has none afterwards.
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  /// Swaps descriptors: the former one is closed with the other object.
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

  /// The number of the descriptor, which stays owned; negative if there is none.
  int get() const { return number_; }
  /// Gives up the descriptor: the caller must close it.
  int release() { return std::exchange(number_, -1); }
  /// Whether there is a descriptor.
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// The error `errno` of an action on a file, as `Errc::system`. Call it directly after the system
/// call that failed. `to_string` gives `PATH: cannot open the file: Permission denied`.
Error file_error(std::string_view path, std::string_view action);

/// Reads an open file from its current offset to its end. `Errc::limit` if there are more than
/// `limit` bytes, `Errc::system` if it cannot be read. `path` is for messages; `expected` is the
/// size of a regular file, which is then read at once, or 0. Leaves the descriptor open.
Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                             std::size_t expected = 0);

namespace detail {

Error over_limit(std::string_view path, std::size_t limit);

/// `openat` that fails for a name with a NUL byte, which the system takes for the end of the name.
int open_at(int directory, const std::string& name, int flags);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/descriptor.inl>
#endif

#endif  // CDI_FILES_DESCRIPTOR_HPP
