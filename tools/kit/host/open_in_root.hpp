// Opens paths under a root by one system call, where the kernel can.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_OPEN_IN_ROOT_HPP
#define CDI_TOOLS_KIT_HOST_OPEN_IN_ROOT_HPP

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>

namespace tools {

/// `struct open_how` of openat2(2), which some C libraries lack.
struct OpenHow {
  std::uint64_t flags = 0;
  std::uint64_t mode = 0;
  std::uint64_t resolve = 0;
};

/// Opens a path as if `root` were /, by openat2(2). Follows no magic links of /proc. If it fails,
/// `errno` says why: `ENOSYS` before Linux 5.6, `EPERM` also for a seccomp filter, and `EAGAIN`
/// while another process renames directories.
inline cdi::Descriptor open_in_root(int root, const std::string& path, int flags) {
#ifdef SYS_openat2
  constexpr std::uint64_t no_magic_links = 0x02;
  constexpr std::uint64_t in_root = 0x10;
  const OpenHow how{.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC,
                    .resolve = in_root | no_magic_links};
  const auto opened = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  return cdi::Descriptor{static_cast<int>(opened)};
#else
  static_cast<void>(root), static_cast<void>(path), static_cast<void>(flags);
  errno = ENOSYS;
  return cdi::Descriptor{-1};
#endif
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_OPEN_IN_ROOT_HPP
