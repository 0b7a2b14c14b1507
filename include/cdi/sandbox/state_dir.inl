// The bodies of <cdi/sandbox/state_dir.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_STATE_DIR_INL
#define CDI_SANDBOX_STATE_DIR_INL

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/access.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/sandbox/image_root.inl>
#include <cdi/sandbox/state_dir.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/version.hpp>

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

/// Returns whether no other user may replace a directory: each directory above it belongs to this
/// user or root, and others may not write in it, or it is sticky, as /tmp is. The path has no
/// links.
inline bool is_safe_place(const std::string& path) {
  for (auto end = path.rfind('/'); end != std::string::npos && end != 0;
       end = path.rfind('/', end - 1)) {
    struct stat info = {};
    if (::stat(path.substr(0, end).c_str(), &info) != 0) return false;
    if (is_writable_by_others(info) && (is_foreign(info) || (info.st_mode & S_ISVTX) == 0)) {
      return false;
    }
  }
  return true;
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
  if (is_writable_by_others(info) || !is_safe_place(*absolute)) {
    return Error{.code = Errc::denied,
                 .message =
                     "other users may write in the directory for generated files, or in a "
                     "directory above it",
                 .advice = "choose a directory of this user with mode 0755",
                 .position = {.file = path}};
  }
  return StateDir{*std::move(absolute), std::move(opened)};
}

CDI_INLINE std::string StateDir::path_of(std::string_view name) const {
  auto path = path_;
  if (!path.ends_with('/')) path.push_back('/');
  return path.append(name);
}

CDI_INLINE Result<std::string> StateDir::file(std::string_view name, std::string_view text) const {
  constexpr unsigned max_turns = 16;
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
};

/// Adds a file of a listed name: a generated file that was not used since `limit`, or the temporary
/// file of a writer that was killed before.
inline void add_if_unused(UnusedFiles& to, const std::string& name, std::chrono::seconds limit) {
  struct stat info = {};
  const bool is_old =
      ::fstatat(to.directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(info.st_mode) && std::chrono::seconds{info.st_mtime} <= limit;
  if (!is_old) return;
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
  const std::chrono::seconds now{::time(nullptr)};
  for (const auto& entry : listing->entries) add_if_unused(out, entry.name, now - unused);
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
  for (const auto& name : found->names) {
    if (::unlinkat(found->directory.get(), name.c_str(), 0) == 0 || errno == ENOENT) continue;
    return file_error(state_dir + "/" + name, "cannot remove the generated file");
  }
  return std::move(found->names);
}

}  // namespace cdi

#endif  // CDI_SANDBOX_STATE_DIR_INL
