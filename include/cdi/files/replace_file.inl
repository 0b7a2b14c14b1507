// The bodies of <cdi/files/replace_file.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_REPLACE_FILE_INL
#define CDI_FILES_REPLACE_FILE_INL

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Rejects a name that no file in a directory can have.
inline Result<void> check_file_name(std::string_view name, std::string_view path) {
  const bool no_file = name.empty() || name == "." || name == ".." || name.find('/') != name.npos;
  const bool too_long = name.size() > NAME_MAX;
  if (!no_file && !too_long && name.find('\0') == name.npos) return {};
  return Error{.code = Errc::system,
               .message = no_file    ? "the path does not name a file"
                          : too_long ? "the name of the file is too long"
                                     : "the path contains a NUL byte",
               .position = {.file = std::string{path}},
               .system = too_long ? ENAMETOOLONG : EINVAL};
}

/// Returns the file's current status if the file still has the expected signature.
inline Result<struct stat> check_unchanged(int directory, const std::string& name,
                                           std::string_view path, const Signature& expected) {
  struct stat info = {};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return file_error(path, "cannot stat the file again");
  }
  if (signature_of(info) == expected) return info;
  return Error{.code = Errc::conflict,
               .message =
                   "the file was changed or replaced after it was read, and is left alone: "
                   "try again",
               .position = {.file = std::string{path}}};
}

/// Opens and locks a file until the descriptor closes, so that no other rewriter of it can come
/// between the last check and the rename. Without permission to open it, there is no descriptor.
inline Result<Descriptor> lock_file(int directory, const std::string& name, std::string_view path) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  Descriptor file{open_at(directory, name, flags)};
  if (!file || try_lock(file.get()) || errno != EWOULDBLOCK) return file;
  return Error{.code = Errc::conflict,
               .message = "another process locks the file, probably to change it: try again",
               .position = {.file = std::string{path}}};
}

inline Result<void> rename_over(Temporary& temporary, int directory, const std::string& name,
                                std::string_view path, bool sync) {
  if (!temporary.replace(name)) {
    return temporary.directory_error(path, "cannot rename the temporary file");
  }
  return sync ? cdi::sync_directory(directory, path) : Result<void>{};
}

}  // namespace detail

CDI_INLINE Result<void> sync_directory(int directory, std::string_view path) {
  // Some file systems cannot sync directories and fail with EINVAL.
  if (::fsync(directory) == 0 || errno == EINVAL) return {};
  return file_error(path, "the file was changed, but its directory cannot be synced");
}

CDI_INLINE Result<void> replace_file_at(int directory, const std::string& name,
                                        std::string_view text, std::string_view path,
                                        const FileAttributes& attributes) {
  if (auto good = detail::check_file_name(name, path); !good) return good;
  detail::Temporary temporary{directory, name};
  if (auto filled = temporary.fill(path, text, attributes); !filled) return filled;
  return detail::rename_over(temporary, directory, name, path, attributes.sync);
}

CDI_INLINE Result<void> replace_file(const std::string& path, std::string_view text,
                                     const FileAttributes& attributes) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (auto good = detail::check_file_name(name, path); !good) return good;
  const Descriptor directory{detail::open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return file_error(path, "cannot open the directory");
  return cdi::replace_file_at(directory.get(), name, text, path, attributes);
}

CDI_INLINE Result<void> rewrite_file_at(int directory, const std::string& name,
                                        std::string_view text, std::string_view path,
                                        const Signature& expected, bool sync) {
  if (auto good = detail::check_file_name(name, path); !good) return good;
  const auto found = detail::check_unchanged(directory, name, path, expected);
  if (!found) return found.error();
  const auto locked = detail::lock_file(directory, name, path);
  if (!locked) return locked.error();
  detail::Temporary temporary{directory, name};
  auto filled = temporary.fill(path, text,
                               {.mode = found->st_mode & 07777U,
                                .owner = found->st_uid,
                                .group = found->st_gid,
                                .sync = sync});
  if (!filled) return filled;
  const auto same = detail::check_unchanged(directory, name, path, expected);
  if (!same) return same.error();
  return detail::rename_over(temporary, directory, name, path, sync);
}

}  // namespace cdi

#endif  // CDI_FILES_REPLACE_FILE_INL
