// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DESCRIPTOR_HPP
#define CDI_DESCRIPTOR_HPP

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <cdi/host.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

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
inline Error file_error(std::string_view path, std::string_view action) {
  const int number = errno;  // before anything else can change it
  Error error = detail::system_error(Errc::system, std::string{action}, number);
  error.position.file = path;
  return error;
}

namespace detail {

inline Error over_limit(std::string_view path, std::size_t limit) {
  return {.code = Errc::limit,
          .message = "the file has more than " + std::to_string(limit) + " bytes",
          .position = {.file = std::string{path}}};
}

}  // namespace detail

/// Reads an open file from where it stands to its end, or refuses it with `Errc::limit` when there
/// are more than `limit` bytes. `Errc::system` when it cannot be read. `path` is for messages;
/// `expected` bytes, at most `limit`, are reserved. Leaves the descriptor open.
inline Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                                    std::size_t expected = 0) {
  std::string text;
  text.reserve(expected < limit ? expected : limit);
  char block[16384];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "cannot read the file");
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return detail::over_limit(path, limit);
    }
  }
}

namespace detail {

/// `openat`, for names that hold NUL too: the system would open what stands before it.
inline int open_at(int directory, const std::string& name, int flags) {
  if (name.find('\0') != std::string::npos) {
    errno = EINVAL;
    return -1;
  }
  return ::openat(directory, name.c_str(), flags);
}

}  // namespace detail

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_DESCRIPTOR_HPP
