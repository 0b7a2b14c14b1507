// Steps that change files in the root of a container: each is checked, then carried out.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_ROOTFS_ROOT_STEPS_HPP
#define CDI_TOOLS_CDI_ROOTFS_ROOT_STEPS_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/result.hpp>

#include "../../kit/host/rooted_paths.hpp"
#include "rooted_files.hpp"

/// One step.
struct RootStep {
  enum class Kind : std::uint8_t { link, file, removal, mode };

  Kind kind = Kind::link;
  std::string path{};  // in the container, absolute
  std::string text{};  // the target of a link, or the content of a file
  mode_t mode = 0644;  // for `file` and `mode`
};

/// The steps for a root, in the order of execution.
using RootSteps = std::vector<RootStep>;

/// A description of a step.
inline std::string step_text(const RootStep& step) {
  const auto path = cdi::escaped(step.path, std::string::npos);
  switch (step.kind) {
    case RootStep::Kind::link:
      return fmt::format("link {} -> {}", path, cdi::escaped(step.text, std::string::npos));
    case RootStep::Kind::file:
      return fmt::format("file {}, {} bytes, mode {:04o}", path, step.text.size(), step.mode);
    case RootStep::Kind::removal: return fmt::format("remove {}", path);
    case RootStep::Kind::mode: break;
  }
  return fmt::format("mode {:04o} {}", step.mode, path);
}

namespace detail {

inline cdi::Error step_error(const RootStep& step, std::string_view reason) {
  return {.code = cdi::Errc::denied, .message = fmt::format("{}: {}", step_text(step), reason)};
}

/// The error for a step that failed with `errno`.
inline cdi::Error step_failed(const RootStep& step) {
  const int number = errno;
  return {
      .code = cdi::Errc::system,
      .message = fmt::format("{}: {}", step_text(step), std::generic_category().message(number)),
      .system = number};
}

/// The error for the path of a step.
inline cdi::Error step_error(const RootStep& step, const cdi::Error& why) {
  return {.code = why.code,
          .message = fmt::format("{}: {}", step_text(step), why.message),
          .advice = why.advice,
          .system = why.system};
}

/// Whether this process can create files in a directory: the file system may be read-only.
inline bool is_writable(const cdi::Descriptor& folder) {
  return ::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/// The `stat` of the file in the place of a step; nullopt if there is none.
inline cdi::Result<std::optional<struct stat>> status_in(const cdi::Descriptor& folder,
                                                         const RootStep& step) {
  struct stat status = {};
  const auto name = SplitPath{step.path}.name;
  if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::optional{status};
  }
  if (errno != ENOENT) return step_failed(step);
  return std::optional<struct stat>{};
}

/// Whether the regular file in the place of a step already has the right content and mode.
inline bool has_content(const cdi::Descriptor& folder, const RootStep& step,
                        const struct stat& status) {
  if (!S_ISREG(status.st_mode) || (status.st_mode & 07777U) != step.mode) return false;
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const auto name = SplitPath{step.path}.name;
  const cdi::Descriptor file{::openat(folder.get(), name.c_str(), flags)};
  if (!file) return false;
  const auto text = cdi::read_all(file.get(), step.path, step.text.size());
  return text && *text == step.text;
}

/// Whether the place of a step already holds the right link, file or mode.
inline bool is_done(const cdi::Descriptor& folder, const RootStep& step,
                    const std::optional<struct stat>& status) {
  if (!status) return step.kind == RootStep::Kind::removal;
  if (step.kind == RootStep::Kind::removal) return false;
  if (step.kind == RootStep::Kind::file) return has_content(folder, step, *status);
  return S_ISLNK(status->st_mode) &&
         tools::read_link(folder.get(), SplitPath{step.path}.name) == step.text;
}

/// Whether a step may set the mode of a file, which may not be the file that was checked before. A
/// file with a second hard link may also be outside the root, where a set-user-ID bit is dangerous.
inline cdi::Result<void> check_mode_target(const RootStep& step, const struct stat& status) {
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return step_error(step, "it is neither a file nor a directory");
  }
  constexpr mode_t set_id = S_ISUID | S_ISGID;
  if (S_ISREG(status.st_mode) && status.st_nlink > 1 && (step.mode & set_id) != 0) {
    return step_error(step, "the file has several hard links, and some may be outside the root");
  }
  return {};
}

/// Like `is_needed`, for a mode. A missing file needs no mode.
inline cdi::Result<bool> needs_mode(const RootedFiles& files, const RootStep& step) {
  const auto found = files.find(step.path);
  if (!found && is_missing(found.error())) return false;
  if (!found) return step_error(step, found.error());
  struct stat status = {};
  if (::fstat(found->get(), &status) != 0) return step_failed(step);
  if ((status.st_mode & 07777U) == step.mode) return false;
  if (auto valid = check_mode_target(step, status); !valid) return valid.error();
  if (::access(RootedFiles::path_of(*found).c_str(), W_OK) != 0 && errno == EROFS) {
    return step_failed(step);
  }
  return true;
}

/// Like `is_needed`, if the directory is missing.
inline cdi::Result<bool> needs_folder(const RootedFiles& files, const RootStep& step) {
  const auto above = files.find_existing(SplitPath{step.path}.folder);
  if (!above) return step_error(step, above.error());
  if (!is_writable(*above)) return step_failed(step);
  return true;
}

/// Creates a link under a temporary name, and renames it into place.
inline cdi::Result<void> replace_by_link(const cdi::Descriptor& folder, const RootStep& step) {
  constexpr int tries = 100;  // `remove_leftovers` of another run may remove the link
  const auto name = SplitPath{step.path}.name;
  for (int i = 0; i < tries; ++i) {
    const auto made = cdi::detail::temporary_name(name, cdi::detail::unpredictable_number());
    if (::symlinkat(step.text.c_str(), folder.get(), made.c_str()) != 0) return step_failed(step);
    if (::renameat(folder.get(), made.c_str(), folder.get(), name.c_str()) == 0) return {};
    if (errno == ENOENT) continue;
    const auto error = step_failed(step);
    ::unlinkat(folder.get(), made.c_str(), 0);
    return error;
  }
  return step_error(step, "another process keeps removing its temporary link");
}

inline cdi::Result<void> write_step(const cdi::Descriptor& folder, const RootStep& step) {
  const cdi::Descriptor open{::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!open) return step_failed(step);
  return cdi::replace_file_at(open.get(), SplitPath{step.path}.name, step.text, step.path,
                              {.mode = step.mode});
}

inline cdi::Result<void> set_mode(const RootedFiles& files, const RootStep& step) {
  const auto found = files.find(step.path);
  if (!found) return step_error(step, found.error());
  struct stat status = {};
  if (::fstat(found->get(), &status) != 0) return step_failed(step);
  if (auto valid = check_mode_target(step, status); !valid) return valid;
  if (::chmod(RootedFiles::path_of(*found).c_str(), step.mode) != 0) return step_failed(step);
  return {};
}

/// Removes temporary files and links that killed runs left in a folder for these names. Links have
/// no lock that identifies a killed run, so a running process creates its link again.
inline void remove_leftovers(const cdi::Descriptor& folder,
                             const std::set<std::string, std::less<>>& names) {
  constexpr std::size_t max = 100'000;
  const auto is_leftover = [&](std::string_view name) {
    const auto target = cdi::detail::temporary_target(name);
    return target && names.contains(*target);
  };
  const auto listing = cdi::detail::list_directory(folder.get(), "", is_leftover, max);
  if (!listing) return;
  for (const auto& entry : listing->entries) {
    struct stat status = {};
    const auto* name = entry.name.c_str();
    const bool is_link =
        ::fstatat(folder.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    if (is_link || cdi::detail::open_abandoned(folder.get(), entry.name)) {
      ::unlinkat(folder.get(), name, 0);
    }
  }
}

}  // namespace detail

/// Removes the temporary files that killed runs of these steps left. Files that cannot be removed
/// stay.
inline void remove_leftovers(const RootedFiles& files, const RootSteps& steps) {
  std::map<std::string, std::set<std::string, std::less<>>> names;  // by folder
  for (const auto& step : steps) {
    if (step.kind != RootStep::Kind::link && step.kind != RootStep::Kind::file) continue;
    const SplitPath path{step.path};
    const auto made =
        cdi::detail::temporary_name(path.name, 0);  // may contain only part of the name
    names[path.folder].emplace(cdi::detail::temporary_target(made).value_or(""));
  }
  for (const auto& [folder, of_folder] : names) {
    if (const auto found = files.find_folder(folder)) detail::remove_leftovers(*found, of_folder);
  }
}

/// Whether a step has to change something. Fails, before any change, if the step could not be
/// carried out: because of a directory in its place, a file among its parents or a read-only file
/// system.
inline cdi::Result<bool> is_needed(const RootedFiles& files, const RootStep& step) {
  if (step.kind == RootStep::Kind::mode) return detail::needs_mode(files, step);
  const auto folder = files.find_folder(SplitPath{step.path}.folder);
  if (!folder && step.kind == RootStep::Kind::removal && is_missing(folder.error())) return false;
  if (!folder && folder.error().system == ENOENT) return detail::needs_folder(files, step);
  if (!folder) return detail::step_error(step, folder.error());
  const auto status = detail::status_in(*folder, step);
  if (!status) return status.error();
  if (detail::is_done(*folder, step, *status)) return false;
  if (*status && S_ISDIR((*status)->st_mode)) {
    return detail::step_error(step, "a directory is in its place");
  }
  if (!detail::is_writable(*folder)) return detail::step_failed(step);
  return true;
}

/// Carries out a needed step.
inline cdi::Result<void> carry_out(const RootedFiles& files, const RootStep& step) {
  if (step.kind == RootStep::Kind::mode) return detail::set_mode(files, step);
  const SplitPath path{step.path};
  const auto folder = files.make_folder(path.folder);
  if (!folder) return detail::step_error(step, folder.error());
  if (step.kind == RootStep::Kind::file) return detail::write_step(*folder, step);
  if (step.kind == RootStep::Kind::removal) {
    if (::unlinkat(folder->get(), path.name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return detail::step_failed(step);
  }
  if (::symlinkat(step.text.c_str(), folder->get(), path.name.c_str()) == 0) return {};
  if (errno != EEXIST) return detail::step_failed(step);
  return detail::replace_by_link(*folder, step);
}

#endif  // CDI_TOOLS_CDI_ROOTFS_ROOT_STEPS_HPP
