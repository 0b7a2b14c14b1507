// The bodies of <cdi/apply/host.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_HOST_INL
#define CDI_APPLY_HOST_INL

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>

#include <cdi/apply/host.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline std::string_view name_file_type(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a socket";
}

CDI_INLINE Error system_error(Errc code, std::string message, int number) {
  message.append(": ").append(std::strerror(number));
  return {.code = code, .message = std::move(message), .system = number};
}

}  // namespace detail

CDI_INLINE Result<HostNode> SystemHost::operator()(std::string_view path) const {
  struct stat info = {};
  const std::string name{path};
  if (path.find('\0') != std::string_view::npos) {  // the system would stop reading there
    return Error{.code = Errc::host,
                 .message = "host path " + cdi::quoted(path) + " contains a NUL"};
  }
  if (::lstat(name.c_str(), &info) != 0) {
    const int number = errno;  // saved before another call can change it
    return detail::system_error(Errc::host, "no host device " + cdi::quoted(path), number);
  }
  HostNode node;
  if (S_ISBLK(info.st_mode)) {
    node.type = 'b';
  } else if (S_ISFIFO(info.st_mode)) {
    node.type = 'p';
  } else if (!S_ISCHR(info.st_mode)) {
    std::string message = "host path " + cdi::quoted(path) + " is not a device node but ";
    message.append(detail::name_file_type(info.st_mode));
    return Error{.code = Errc::host,
                 .message = std::move(message),
                 .advice = S_ISLNK(info.st_mode) ? "use the path of the node itself" : ""};
  }
  // The macros of <sys/sysmacros.h> would reserve the names major and minor.
  const std::uint64_t number = node.type == 'p' ? 0 : info.st_rdev;
  node.major = static_cast<std::int64_t>((number >> 8 & 0xfff) | (number >> 32 & ~0xfffULL));
  node.minor = static_cast<std::int64_t>((number & 0xff) | (number >> 12 & ~0xffULL & 0xffffffff));
  node.file_mode = info.st_mode & 07777;
  return node;
}

}  // namespace cdi

#endif  // CDI_APPLY_HOST_INL
