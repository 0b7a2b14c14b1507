// Reads a whole file that is opened once, and checked by its descriptor.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_TEXT_FILE_HPP
#define CDI_FILES_TEXT_FILE_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A file as it was read.
struct TextFile {
  std::string text{};
  Signature signature{};
  bool settled = false;
  std::int64_t age = 0;  // milliseconds since its last change
};

/// `mode 0600, owner 0, group 0`; 01777 for a sticky one
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

/// Adds to a refusal what could be known of the file and who we are.
inline Error with_access(Error error, const struct stat& info) {
  if (error.system != EACCES && error.system != EPERM) return error;
  error.message.append(": ").append(detail::describe_access(info));
  error.message.append("; this process is user ").append(std::to_string(::geteuid()));
  error.message.append(", group ").append(std::to_string(::getegid()));
  return error;
}

/// Whether a file or directory belongs to somebody who is neither root nor this user.
inline bool is_foreign(const struct stat& info) {
  return info.st_uid != 0 && info.st_uid != ::geteuid();
}

/// Whether somebody who is neither root nor this user may write a file or directory. Of no group it
/// is known who is in it.
inline bool is_writable_by_others(const struct stat& info) {
  return is_foreign(info) || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

inline Error writable_by_others(std::string_view path, std::string_view what,
                                const struct stat& info) {
  std::string message = is_foreign(info) ? "a user who is neither root nor this one owns the "
                                         : "others may write the ";
  message.append(what).append(": ").append(detail::describe_access(info));
  return {.code = Errc::refused,
          .message = std::move(message),
          .position = {.file = std::string{path}}};
}

inline Error not_regular(std::string_view path, mode_t mode) {
  return {.code = Errc::system,
          .message = "not a regular file",
          .position = {.file = std::string{path}},
          .system = S_ISDIR(mode) ? EISDIR : EINVAL};
}

inline bool is_link(int directory, const std::string& name) {
  struct stat info = {};
  return ::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(info.st_mode);
}

/// Whether a file that was `before` when it was opened is the same after it was read. One that was
/// replaced or removed meanwhile is: it has another time of change since it lost its last name, and
/// all else as it was.
inline bool is_same_content(const Signature& before, const struct stat& after) {
  Signature now = signature_of(after);
  if (after.st_nlink == 0) {
    now.changed = before.changed;
    now.changed_ns = before.changed_ns;
  }
  return now == before;
}

/// Reads the regular file `name` of a directory (`AT_FDCWD`: the current one). Opens once, checks
/// what was opened, and never waits for the other side of a FIFO. `path` is for messages. A file
/// that is written meanwhile is an error with `EAGAIN`.
inline Result<TextFile> read_text_at(int directory, const std::string& name, std::string_view path,
                                     std::size_t limit, bool refuse_writable = false) {
  struct stat info = {};
  // Looked at first, since opening some devices does something; what counts is what was opened.
  const bool there = ::fstatat(directory, name.c_str(), &info, 0) == 0;
  if (there && !S_ISREG(info.st_mode)) return detail::not_regular(path, info.st_mode);
  const Descriptor file{
      detail::open_at(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!file) {
    const bool missing = errno == ENOENT;
    Error error = file_error(path, "cannot open the file");
    if (missing && detail::is_link(directory, name)) error.message = "the link leads nowhere";
    return there ? detail::with_access(std::move(error), info) : std::move(error);
  }
  const auto now = file_clock();
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot look at the file");
  if (!S_ISREG(info.st_mode)) return detail::not_regular(path, info.st_mode);
  if (refuse_writable && detail::is_writable_by_others(info)) {
    return detail::writable_by_others(path, "file", info);
  }
  if (std::cmp_greater(info.st_size, limit)) return detail::over_limit(path, limit);

  TextFile out{.signature = signature_of(info)};
  auto text = cdi::read_all(file.get(), path, limit, static_cast<std::size_t>(info.st_size));
  if (!text) return std::move(text).error();
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot look at the file");
  if (!detail::is_same_content(out.signature, info)) {
    return Error{.code = Errc::system,
                 .message = "the file changes while it is read",
                 .position = {.file = std::string{path}},
                 .system = EAGAIN};
  }
  out.text = std::move(*text);
  out.settled = is_settled(out.signature, now);
  out.age = age_of(out.signature, now);
  return out;
}

}  // namespace detail

/// Reads a regular file of at most `limit` bytes; links are followed. `Errc::limit` when it has
/// more; `Errc::system` when it cannot be read, is no regular file (`EISDIR`, `EINVAL`), or changes
/// while it is read (`EAGAIN`). Never waits for the other side of a FIFO, and opens no device.
inline Result<std::string> read_file(const std::string& path, std::size_t limit = Limits{}.bytes) {
  auto file = detail::read_text_at(AT_FDCWD, path, path, limit);
  if (!file) return std::move(file).error();
  return std::move(file->text);
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_TEXT_FILE_HPP
