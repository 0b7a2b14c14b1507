// The bodies of <cdi/files/descriptor.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_DESCRIPTOR_INL
#define CDI_FILES_DESCRIPTOR_INL

#include <cerrno>
#include <fcntl.h>

#include <cdi/apply/host.hpp>
#include <cdi/files/descriptor.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Error file_error(std::string_view path, std::string_view action) {
  const int number = errno;  // saved before another call can change it
  Error error = detail::system_error(Errc::system, std::string{action}, number);
  error.position.file = path;
  return error;
}

namespace detail {

CDI_INLINE Error over_limit(std::string_view path, std::size_t limit) {
  return {.code = Errc::limit,
          .message = "the file is larger than " + std::to_string(limit) + " bytes",
          .position = {.file = std::string{path}}};
}

CDI_INLINE int open_at(int directory, const std::string& name, int flags) {
  if (name.find('\0') != std::string::npos) {
    errno = EINVAL;
    return -1;
  }
  return ::openat(directory, name.c_str(), flags);
}

}  // namespace detail

CDI_INLINE Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit,
                                        std::size_t expected) {
  constexpr std::size_t block = 16384;
  const std::size_t whole = expected < limit ? expected : limit;
  std::string text;
  std::size_t size = 0;
  for (;;) {
    // One extra byte of room: a read that leaves it unused reveals the end of the file.
    text.resize(size == 0 && whole != 0 ? whole + 1 : size + block);
    const ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "cannot read the file");
    size += static_cast<std::size_t>(got);
    if (size > limit) return detail::over_limit(path, limit);
    if (got == 0 || size == whole) break;
  }
  text.resize(size);
  return text;
}

}  // namespace cdi

#endif  // CDI_FILES_DESCRIPTOR_INL
