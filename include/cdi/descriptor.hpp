// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DESCRIPTOR_HPP
#define CDI_DESCRIPTOR_HPP

#include <algorithm>
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

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// What `errno` says of an action on a file: `PATH: cannot open the file: No such file or
/// directory`.
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

/// Reads an open file to its end, or refuses it when there are more than `limit` bytes. `path` is
/// for messages; `expected` is how many there may be.
inline Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                                    std::size_t expected = 0) {
  std::string text;
  text.reserve(std::min(expected, limit));
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
