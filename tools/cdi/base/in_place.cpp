// Reads a file and replaces it, in a directory that other users may change at the same time.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "in_place.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <deque>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>

#include "../../kit/host/denied.hpp"

namespace {

/// Inserts the parts of a path before other parts; the part for the root is `/`. A path that ends
/// in a slash is a directory: its last part is `.`.
void add_parts_before(std::string_view path, std::deque<std::string>& parts) {
  std::deque<std::string> added;
  const bool needs_directory = path.ends_with('/');
  if (path.starts_with('/')) added.emplace_back("/");
  while (!path.empty()) {
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (!part.empty()) added.emplace_back(part);
  }
  if (needs_directory) added.emplace_back(".");
  parts.insert(parts.begin(), added.begin(), added.end());
}

/// The target of a link, if root or the user of this process owns the link: the owner can redirect
/// a link at any time.
cdi::Result<std::string> read_link(int directory, const std::string& name, const struct stat& info,
                                   std::string_view path) {
  if (cdi::is_foreign(info)) {
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = "the path contains a link owned by user " +
                                 std::to_string(info.st_uid) +
                                 ", who is neither root nor the user running this process",
                      .advice =
                          "name the "
                          "target of " +
                          cdi::quoted(name),
                      .position = {.file = std::string{path}}};
  }
  char target[PATH_MAX];
  const auto size = ::readlinkat(directory, name.c_str(), target, sizeof target);
  if (size < 0) return cdi::file_error(path, "cannot read a link in the path");
  return std::string(target, static_cast<std::size_t>(size));
}

/// Resolves a path to a directory and a name in it, without reading the file.
cdi::Result<FileInPlace> find_file(const std::string& path,
                                   IfMissing if_missing = IfMissing::fail) {
  constexpr int max_links = 40;  // the limit of the kernel
  constexpr int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  FileInPlace found{.path = path, .directory = cdi::Descriptor{::open(".", flags)}};
  std::deque<std::string> parts;
  add_parts_before(path, parts);
  errno = path.empty() ? ENOENT : EINVAL;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return cdi::file_error(path, "cannot open the file");
  }
  for (int links = 0; found.directory;) {
    found.name = std::move(parts.front());
    parts.pop_front();
    const int directory = found.directory.get();
    struct stat info = {};
    int status = ::fstatat(directory, found.name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    if (status != 0 && errno == ENOENT && if_missing == IfMissing::make_directories) {
      if (!cdi::detail::make_directory(directory, found.name, 0755)) {
        return cdi::file_error(path, "cannot create the directory");
      }
      status = ::fstatat(directory, found.name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    }
    if (status != 0) return cdi::file_error(path, "cannot open the file");
    if (S_ISLNK(info.st_mode)) {
      errno = ELOOP;
      if (++links > max_links) return cdi::file_error(path, "cannot open the file");
      const auto target = read_link(directory, found.name, info, path);
      if (!target) return target.error();
      add_parts_before(*target, parts);
    } else if (parts.empty()) {
      return found;
    } else {
      found.directory = cdi::Descriptor{::openat(directory, found.name.c_str(), flags)};
    }
  }
  const bool is_file = errno == ENOTDIR && path.ends_with('/');
  return cdi::file_error(path, is_file ? "the path has a slash after a file name"
                                       : "cannot open a directory in the path");
}

/// Writes the text of a file that was read to a new file next to it, with the same mode, owner and
/// group: the first of NAME.bak, NAME.bak.2 and so on that does not exist. Returns the name.
cdi::Result<std::string> back_up(const FileInPlace& file) {
  const int directory = file.directory.get();
  struct stat info = {};
  if (::fstatat(directory, file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return cdi::file_error(file.path, "cannot stat the file again");
  }
  cdi::detail::Temporary temporary{directory, file.name};
  const auto filled =
      temporary.fill(file.path, file.text,
                     {.mode = info.st_mode & 07777U, .owner = info.st_uid, .group = info.st_gid});
  if (!filled) return filled.error();
  constexpr int max_backups = 1000;
  for (int number = 1; number <= max_backups; ++number) {
    auto name = file.name + ".bak" + (number == 1 ? "" : "." + std::to_string(number));
    if (temporary.create(name)) return name;
    if (errno != EEXIST) return cdi::file_error(file.path, "cannot write the backup");
  }
  return cdi::Error{.code = cdi::Errc::conflict,
                    .message = "the file has " + std::to_string(max_backups) + " backups",
                    .advice = "remove the ones that you do not need",
                    .position = {.file = file.path}};
}

/// The path of a file in an open directory; only the file name if `/proc` does not show the
/// directory.
std::string path_in(const cdi::Descriptor& directory, const std::string& name) {
  char path[PATH_MAX];
  const auto link = "/proc/self/fd/" + std::to_string(directory.get());
  const auto size = ::readlink(link.c_str(), path, sizeof path);
  if (size <= 0) return name;
  return std::string(path, static_cast<std::size_t>(size)) + "/" + name;
}

}  // namespace

cdi::Result<cdi::Descriptor> open_to_write(const std::string& path, IfMissing if_missing) {
  const auto found = find_file(path, if_missing);
  if (!found) {
    const bool only_opens = if_missing == IfMissing::fail;
    if (found.error().code != cdi::Errc::system) return found.error();
    errno = found.error().system;
    if (errno == ENOENT && only_opens) return cdi::Descriptor{-1};
    const auto* const what =
        only_opens ? "cannot open the directory" : "cannot open or create the directory";
    return tools::with_access(cdi::file_error(path, what), path);
  }
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  cdi::Descriptor opened{::openat(found->directory.get(), found->name.c_str(), flags)};
  if (!opened) return tools::with_access(cdi::file_error(path, "cannot open the directory"), path);
  return opened;
}

cdi::Result<FileInPlace> read_in_place(const std::string& path, bool reject_writable) {
  auto found = find_file(path);
  if (!found) return found;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  found->directory = cdi::Descriptor{::openat(found->directory.get(), ".", flags)};
  if (!found->directory) return cdi::file_error(path, "cannot open the directory");
  auto file = cdi::read_file_at(found->directory.get(), found->name, path, cdi::Limits{}.bytes,
                                reject_writable);
  if (!file) return std::move(file).error();
  // Unlike this check, the read would follow a link that replaced the file after the lookup.
  struct stat info = {};
  if (::fstatat(found->directory.get(), found->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      cdi::signature_of(info) != file->signature) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "the file was replaced while it was read",
                      .advice = "try again",
                      .position = {.file = path}};
  }
  found->text = std::move(file->text);
  found->signature = file->signature;
  found->opened = std::move(file->opened);
  return found;
}

cdi::Result<void> replace_in_place(const FileInPlace& file, std::string_view text) {
  const int directory = file.directory.get();
  auto done = cdi::rewrite_file_at(directory, file.name, text, file.path, file.signature);
  if (done) cdi::remove_temporaries_of(directory, file.name);
  return done;
}

cdi::Result<std::string> replace_with_backup(const FileInPlace& file, std::string_view text) {
  const int directory = file.directory.get();
  const auto backup = back_up(file);
  if (!backup) return backup;
  auto done = cdi::sync_directory(directory, file.path);
  if (done) done = replace_in_place(file, text);
  if (done) return path_in(file.directory, *backup);
  // If only the last sync failed, the file has been replaced.
  struct stat info = {};
  const bool unchanged = ::fstatat(directory, file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                         cdi::signature_of(info) == file.signature;
  if (unchanged || done.error().code == cdi::Errc::conflict) {
    static_cast<void>(::unlinkat(directory, backup->c_str(), 0));
  }
  return std::move(done).error();
}
