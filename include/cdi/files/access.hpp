// Ownership of files and directories, and write access to them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_ACCESS_HPP
#define CDI_FILES_ACCESS_HPP

#include <cerrno>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Describes access, such as `mode 0600, owner 0, group 0`; the sticky bit gives `mode 01777`.
inline std::string describe_access(const struct stat& info) {
  constexpr std::string_view digits = "01234567";
  std::string out{"mode 0"};
  if ((info.st_mode & 07000) != 0) out.append(1, digits[info.st_mode >> 9 & 7]);
  for (const int shift : {6, 3, 0}) out.append(1, digits[info.st_mode >> shift & 7]);
  return out.append(", owner ")
      .append(std::to_string(info.st_uid))
      .append(", group ")
      .append(std::to_string(info.st_gid));
}

/// Appends the file's mode, owner and group, and this process's user and group, to an error that
/// reports denied access.
inline Error with_access(Error error, const struct stat& info) {
  if (error.system != EACCES && error.system != EPERM) return error;
  error.message.append(": ").append(detail::describe_access(info));
  error.message.append("; this process is user ").append(std::to_string(::geteuid()));
  error.message.append(", group ").append(std::to_string(::getegid()));
  return error;
}

}  // namespace detail

/// Returns whether the owner of a file or directory is neither root nor this process's user.
inline bool is_foreign(const struct stat& info) {
  return info.st_uid != 0 && info.st_uid != ::geteuid();
}

/// Returns whether a user other than root and this process's user may write to a file or directory.
/// Foreign owners always can; groups with write permission count, as their members are unknown.
inline bool is_writable_by_others(const struct stat& info) {
  return is_foreign(info) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

namespace detail {

inline Error writable_by_others(std::string_view path, std::string_view what,
                                const struct stat& info) {
  std::string message = is_foreign(info)
                            ? "a user other than root and the user of this process owns the "
                            : "other users may write to the ";
  message.append(what).append(": ").append(detail::describe_access(info));
  return {
      .code = Errc::denied, .message = std::move(message), .position = {.file = std::string{path}}};
}

}  // namespace detail

/// Fails with `Errc::denied` for a file or directory for which `is_writable_by_others` is true.
/// `path` appears in the message.
inline Result<void> check_writers(std::string_view path, const struct stat& info) {
  if (!is_writable_by_others(info)) return {};
  return detail::writable_by_others(path, S_ISDIR(info.st_mode) ? "directory" : "file", info);
}

}  // namespace cdi

#endif  // CDI_FILES_ACCESS_HPP
