// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_HOST_HPP
#define CDI_HOST_HPP

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What the host says of one of its device nodes.
struct HostNode {
  char type = 'c';              ///< 'b' block, 'c' character, 'p' FIFO
  std::int64_t major = 0;       ///< 0 for a FIFO
  std::int64_t minor = 0;       ///< 0 for a FIFO
  std::uint32_t file_mode = 0;  ///< permission bits only: at most 0777

  friend bool operator==(const HostNode&, const HostNode&) = default;
};

/// Whoever can be asked for the device node at a path of the host. Errors are `Errc::host`, by
/// custom: they are passed on as they are. `SystemHost` is one, a lambda for tests another.
template <class T>
concept HostLookup = requires(const T& host, std::string_view path) {
  { host(path) } -> std::same_as<Result<HostNode>>;
};

namespace detail {

inline std::string_view name_file_type(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISLNK(mode)) return "a symbolic link; name the node itself";
  return "a socket";
}

/// What the system says in the words of `strerror`, thread-safe for the C libraries of Linux.
inline Error system_error(Errc code, std::string message, int number) {
  message.append(": ").append(std::strerror(number));
  return {.code = code, .message = std::move(message), .system = number};
}

}  // namespace detail

/// The host the program runs on. Looks with one `lstat`: nothing is opened, links are not followed.
/// Holds nothing; any number of threads may ask.
struct SystemHost {
  /// The device node at a path. `Errc::host` when nothing is there or it cannot be looked at, with
  /// `Error::system` then, and when it is no device node or FIFO, or the path holds NUL.
  Result<HostNode> operator()(std::string_view path) const {
    struct stat info = {};
    const std::string name{path};
    if (path.find('\0') != std::string_view::npos) {  // the system would stop reading there
      return Error{.code = Errc::host,
                   .message = "host path " + detail::quoted(path) + " holds NUL"};
    }
    if (::lstat(name.c_str(), &info) != 0) {
      const int number = errno;  // before anything else can change it
      return detail::system_error(Errc::host, "no host device " + detail::quoted(path), number);
    }
    HostNode node;
    if (S_ISBLK(info.st_mode)) {
      node.type = 'b';
    } else if (S_ISFIFO(info.st_mode)) {
      node.type = 'p';
    } else if (!S_ISCHR(info.st_mode)) {
      std::string message = "host path " + detail::quoted(path) + " is no device node but ";
      message.append(detail::name_file_type(info.st_mode));
      return Error{.code = Errc::host, .message = std::move(message)};
    }
    // Not the macros of <sys/sysmacros.h>: they would take the names major and minor from users.
    const std::uint64_t number = node.type == 'p' ? 0 : info.st_rdev;
    node.major = static_cast<std::int64_t>((number >> 8 & 0xfff) | (number >> 32 & ~0xfffULL));
    node.minor =
        static_cast<std::int64_t>((number & 0xff) | (number >> 12 & ~0xffULL & 0xffffffff));
    node.file_mode = info.st_mode & 0777;
    return node;
  }
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_HOST_HPP
