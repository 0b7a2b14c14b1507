// The bodies of <cdi/sandbox/state_dir.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_STATE_DIR_INL
#define CDI_SANDBOX_STATE_DIR_INL

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/files/access.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/lock.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/sandbox/image_root.inl>
#include <cdi/sandbox/state_dir.hpp>
#include <cdi/text/bytes.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The names of generated files begin with this text.
inline constexpr std::string_view generated_stem = "cdi-";

CDI_INLINE std::string generated_name(std::string_view name, std::string_view text, unsigned turn) {
  std::string made{generated_stem};
  auto hash = hash_bytes(text) + turn;
  for (int i = 0; i < 16; ++i, hash >>= 4U) made.push_back("0123456789abcdef"[hash & 15U]);
  return made.append("-").append(name);
}

inline bool is_generated(std::string_view name) {
  constexpr std::size_t digits = 16;
  if (!name.starts_with(generated_stem)) return false;
  name.remove_prefix(generated_stem.size());
  return name.size() > digits + 1 && name[digits] == '-' &&
         name.substr(0, digits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns whether other users may replace what is at a name in a directory: they may write in the
/// directory, unless it is sticky, as /tmp is, and its owner is not another user.
inline bool is_open_to_others(const struct stat& folder) {
  return is_writable_by_others(folder) && (is_foreign(folder) || (folder.st_mode & S_ISVTX) == 0);
}

/// Returns the part of an absolute path that another user may make lead to something else, because
/// the directory is open to others, or because it is a link of theirs; empty if there is none.
/// Looks from the root downward, so that what was looked at stays.
inline std::string unsafe_part(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    auto part = path.substr(0, end);
    struct stat info = {};
    if (::lstat(part.c_str(), &info) != 0 || (S_ISLNK(info.st_mode) && is_foreign(info))) {
      return part;
    }
    if (end == std::string::npos) return {};
    if (::stat(part.c_str(), &info) != 0 || is_open_to_others(info)) return part;
  }
}

/// Returns the part of a path, or of its absolute form, that other users may change; or the path if
/// the absolute form does not lead to the directory that was opened by it; empty if all is good.
inline std::string unsafe_place(const std::string& path, const std::string& absolute,
                                const struct stat& opened) {
  auto full = path;
  if (!path.starts_with('/')) {
    const auto current = absolute_path(".");
    if (!current) return path;
    full = *current + "/" + path;
  }
  for (const auto& one : {full, absolute}) {
    if (auto part = unsafe_part(one); !part.empty()) return part;
  }
  struct stat found = {};
  const bool is_same = ::lstat(absolute.c_str(), &found) == 0 && found.st_dev == opened.st_dev &&
                       found.st_ino == opened.st_ino;
  return is_same ? std::string{} : path;
}

/// Returns whether an open file was generated with this text, and cannot be changed by others.
inline bool has_text(const Descriptor& file, std::string_view path, std::string_view text) {
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || is_writable_by_others(info)) {
    return false;
  }
  const auto found = read_all(file.get(), path, text.size(), text.size());
  return found && *found == text;
}

/// Opens what has the name of a generated file, unless it is a link.
inline Descriptor open_generated(const Descriptor& directory, const std::string& name) {
  return Descriptor{open_at(directory.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
}

CDI_INLINE StateDir::StateDir(std::string path, Descriptor directory)
    : path_{std::move(path)}, directory_{std::move(directory)} {}

CDI_INLINE Result<StateDir> StateDir::open(const std::string& path) {
  Descriptor opened{open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  struct stat info = {};
  if (!opened || ::fstat(opened.get(), &info) != 0) {
    auto error = file_error(path, "cannot open the directory for generated files");
    if (error.system == ENOENT) error.advice = "create the directory with mode 0755";
    return error;
  }
  auto absolute = absolute_path(path);
  if (!absolute) return std::move(absolute).error();
  const auto unsafe = is_writable_by_others(info) ? path : unsafe_place(path, *absolute, info);
  if (!unsafe.empty()) {
    return Error{.code = Errc::denied,
                 .message = unsafe == path
                                ? "other users may write in the directory for generated files"
                                : "other users may change where the directory for generated files "
                                  "is: they own or may write " +
                                      cdi::quoted(unsafe),
                 .advice =
                     "choose a directory of this user with mode 0755, in directories which "
                     "no other user may write",
                 .position = {.file = path}};
  }
  return StateDir{*std::move(absolute), std::move(opened)};
}

/// A lock on a directory for generated files, until it is closed: shared by those who take files
/// into use, exclusive for one who removes some. Waits some seconds at most, as any user who may
/// read the directory can lock it; then fails with `Errc::conflict`. A file system without locks
/// gives none to anybody, and no error.
inline Result<Descriptor> lock_state(const Descriptor& directory, const std::string& path,
                                     int operation) {
  constexpr int max_turns = 1000;
  Descriptor lock{open_at(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!lock) return file_error(path, "cannot open the directory for generated files");
  int turns = 0;
  const auto goes_on = [&] {
    return ++turns < max_turns;
  };
  if (detail::lock(lock.get(), operation, goes_on) || errno != EWOULDBLOCK) return lock;
  return Error{.code = Errc::conflict,
               .message = "another program has locked the directory for generated files",
               .advice = "end that program, which `fuser` names, and try again",
               .position = {.file = path}};
}

CDI_INLINE std::string StateDir::path_of(std::string_view name) const {
  auto path = path_;
  if (!path.ends_with('/')) path.push_back('/');
  return path.append(name);
}

CDI_INLINE Result<std::string> StateDir::file(std::string_view name, std::string_view text) const {
  constexpr unsigned max_turns = 16;
  // Without the lock, too: while another program has it, `remove_generated` does not.
  const auto lock = lock_state(directory_, path_, LOCK_SH);
  for (unsigned turn = 0; turn < max_turns; ++turn) {
    const auto made = generated_name(name, text, turn);
    auto path = path_of(made);
    const auto old = open_generated(directory_, made);
    if (!old && errno == ELOOP) continue;  // a link
    if (!old) {
      if (errno != ENOENT) return file_error(path, "cannot open the generated file");
      auto done = replace_file_at(directory_.get(), made, text, path, {.mode = 0444});
      if (!done) return std::move(done).error();
      return path;
    }
    if (!has_text(old, path, text)) continue;
    ::futimens(old.get(), nullptr);  // without effect on a read-only file system
    return path;
  }
  return Error{.code = Errc::conflict,
               .message = "other files have the names that a generated file could have",
               .advice = "remove the files cdi-*-" + std::string{name},
               .position = {.file = path_}};
}

CDI_INLINE std::optional<std::string> StateDir::read(std::string_view path,
                                                     std::size_t limit) const {
  const std::string name{path.substr(path.rfind('/') + 1)};
  if (!is_generated(name) || path != path_of(name)) return std::nullopt;
  const auto file = open_generated(directory_, name);
  struct stat info = {};
  const bool good = file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
                    !is_writable_by_others(info);
  if (!good) return std::nullopt;
  auto text = read_all(file.get(), path, limit, static_cast<std::size_t>(info.st_size));
  if (!text) return std::nullopt;
  return *std::move(text);
}

/// The names of unused generated files, and their directory.
struct UnusedFiles {
  Descriptor directory;
  std::vector<std::string> names{};
  std::vector<Descriptor> locks{};  // keep writers from using the temporary files
  std::chrono::seconds limit{};     // since the epoch
};

/// Returns whether a name belongs to a regular file whose last use was at or before `limit`.
inline bool is_unused(const Descriptor& directory, const std::string& name,
                      std::chrono::seconds limit) {
  struct stat info = {};
  return ::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(info.st_mode) && std::chrono::seconds{info.st_mtime} <= limit;
}

/// Adds a file of a listed name: a generated file that was not used since the limit, or the
/// temporary file of a writer that was killed before.
inline void add_if_unused(UnusedFiles& to, const std::string& name) {
  if (!is_unused(to.directory, name, to.limit)) return;
  if (!is_generated(name)) {
    auto lock = open_abandoned(to.directory.get(), name);
    if (!lock) return;
    to.locks.push_back(std::move(lock));
  }
  to.names.push_back(name);
}

inline Result<UnusedFiles> find_unused(const std::string& state_dir, std::chrono::seconds unused) {
  constexpr std::size_t max_files = 1'000'000;
  UnusedFiles out{Descriptor{open_at(AT_FDCWD, state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)}};
  if (!out.directory) return file_error(state_dir, "cannot open the directory for generated files");
  const auto is_ours = [](std::string_view name) {
    const auto target = temporary_target(name);
    return is_generated(target ? *target : name);
  };
  const auto listing = list_directory(out.directory.get(), state_dir, is_ours, max_files);
  if (!listing) return listing.error();
  out.limit = std::chrono::seconds{::time(nullptr)} - unused;
  for (const auto& entry : listing->entries) add_if_unused(out, entry.name);
  return out;
}

}  // namespace detail

CDI_INLINE Result<std::vector<std::string>> unused_generated(const std::string& state_dir,
                                                             std::chrono::seconds unused) {
  auto found = detail::find_unused(state_dir, unused);
  if (!found) return std::move(found).error();
  return std::move(found->names);
}

CDI_INLINE Result<std::vector<std::string>> remove_generated(const std::string& state_dir,
                                                             std::chrono::seconds unused) {
  auto found = detail::find_unused(state_dir, unused);
  if (!found) return std::move(found).error();
  std::vector<std::string> removed;
  const auto lock = detail::lock_state(found->directory, state_dir, LOCK_EX);
  if (!lock) return lock.error();
  for (auto& name : found->names) {
    // A file may have come into use since the listing.
    if (!detail::is_unused(found->directory, name, found->limit)) continue;
    if (::unlinkat(found->directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return file_error(state_dir + "/" + name, "cannot remove the generated file");
    }
    removed.push_back(std::move(name));
  }
  return removed;
}

}  // namespace cdi

#endif  // CDI_SANDBOX_STATE_DIR_INL
