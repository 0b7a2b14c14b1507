// Reads a whole file, opened once and checked through its descriptor.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <cdi/files/access.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A file as it was read.
struct TextFile {
  std::string text{};       ///< the file's bytes
  Signature signature{};    ///< at the time of the read
  bool stable = false;      ///< whether every later change alters `signature`: see `is_stable`
  std::int64_t age = 0;     ///< milliseconds between the last change and the read
  std::uint32_t owner = 0;  ///< user ID
  std::uint32_t group = 0;  ///< group ID
  /// The file, unless it is `stable`: while it is open, no newer file has its signature.
  Descriptor opened{-1};
};

namespace detail {

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

/// Returns whether a file with the signature `before` at opening stayed unchanged during the read.
/// A file that was replaced or removed meanwhile counts as unchanged: only its time of change is
/// new, because the file lost its last name.
inline bool is_same_content(const Signature& before, const struct stat& after) {
  Signature now = signature_of(after);
  if (after.st_nlink == 0) {
    now.changed = before.changed;
    now.changed_ns = before.changed_ns;
  }
  return now == before;
}

/// Like `read_file_at`, but also sets `out.signature` after `Errc::limit` and `Errc::denied`.
inline Result<void> read_file_into(TextFile& out, int directory, const std::string& name,
                                   std::string_view path, std::size_t limit, bool reject_writable) {
  struct stat info = {};
  // Opening some devices has side effects, so the type is checked before opening. Only the check
  // after opening is reliable.
  const bool there = ::fstatat(directory, name.c_str(), &info, 0) == 0;
  if (there && !S_ISREG(info.st_mode)) return detail::not_regular(path, info.st_mode);
  Descriptor file{detail::open_at(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!file) {
    const bool missing = errno == ENOENT;
    Error error = file_error(path, "cannot open the file");
    if (missing && detail::is_link(directory, name))
      error.message = "the target of the link does not exist";
    return there ? detail::with_access(std::move(error), info) : std::move(error);
  }
  const auto now = file_clock();
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot stat the file");
  if (!S_ISREG(info.st_mode)) return detail::not_regular(path, info.st_mode);
  out = {.signature = signature_of(info), .owner = info.st_uid, .group = info.st_gid};
  out.stable = is_stable(out.signature, now);
  out.age = age_of(out.signature, now);
  if (reject_writable) {
    if (auto good = check_writers(path, info); !good) return std::move(good).error();
  }
  if (std::cmp_greater(info.st_size, limit)) return detail::over_limit(path, limit);

  auto text = cdi::read_all(file.get(), path, limit, static_cast<std::size_t>(info.st_size));
  if (!text) return std::move(text).error();
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot stat the file");
  if (!detail::is_same_content(out.signature, info)) {
    return Error{.code = Errc::system,
                 .message = "the file changed during the read",
                 .position = {.file = std::string{path}},
                 .system = EAGAIN};
  }
  out.text = std::move(*text);
  if (!out.stable) out.opened = std::move(file);
  return {};
}

}  // namespace detail

/// Reads the regular file `name` in an open directory, or in the current directory for `AT_FDCWD`.
/// Links are followed. `path` appears in messages. Fails like `read_file`, and with `Errc::denied`
/// if `reject_writable` is set and other users may write to the file: see `check_writers`.
inline Result<TextFile> read_file_at(int directory, const std::string& name, std::string_view path,
                                     std::size_t limit, bool reject_writable = false) {
  TextFile out;
  auto done = detail::read_file_into(out, directory, name, path, limit, reject_writable);
  if (!done) return std::move(done).error();
  return out;
}

/// Reads a regular file of at most `limit` bytes. Links are followed. Fails with `Errc::limit` if
/// the file is larger, and with `Errc::system` if the file cannot be read, is not a regular file
/// (`EISDIR`, `EINVAL`) or changes during the read (`EAGAIN`). Never waits for the other end of a
/// FIFO, and opens no device.
inline Result<std::string> read_file(const std::string& path, std::size_t limit = Limits{}.bytes) {
  auto file = read_file_at(AT_FDCWD, path, path, limit);
  if (!file) return std::move(file).error();
  return std::move(file->text);
}

}  // namespace cdi

#endif  // CDI_FILES_TEXT_FILE_HPP
