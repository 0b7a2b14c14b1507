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
  /// Owns `number` from now on, if it is not negative: what `open` gives will do.
  explicit Descriptor(int number) : number_{number} {}
  /// Takes another's number; the other has none then.
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  /// Swaps numbers: what this one had is closed with the other.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  /// Closes the number, if there is one.
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  /// The number, still owned here; negative when there is none.
  int get() const { return number_; }
  /// The number, which is the caller's to close; none is left here.
  int release() { return std::exchange(number_, -1); }
  /// Whether there is a number.
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// What `errno` says of an action on a file, as `Errc::system`. Call it just after what failed. By
/// `to_string` it is `PATH: cannot open the file: Permission denied`.
Error file_error(std::string_view path, std::string_view action);

/// Reads an open file from where it stands to its end, or refuses it with `Errc::limit` when there
/// are more than `limit` bytes. `Errc::system` when it cannot be read. `path` is for messages;
/// `expected` bytes, at most `limit`, are reserved. Leaves the descriptor open.
Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                             std::size_t expected = 0);

namespace detail {

Error over_limit(std::string_view path, std::size_t limit);

/// `openat`, for names that hold NUL too: the system would open what stands before it.
int open_at(int directory, const std::string& name, int flags);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/impl/descriptor.hpp>
#endif

#endif  // CDI_FILES_DESCRIPTOR_HPP
