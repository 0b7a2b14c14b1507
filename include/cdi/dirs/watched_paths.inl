// The bodies of <cdi/dirs/watched_paths.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_WATCHED_PATHS_INL
#define CDI_DIRS_WATCHED_PATHS_INL

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/dirs/watched_paths.hpp>
#include <cdi/files/descriptor.hpp>

namespace cdi::inline CDI_ABI::detail {

inline constexpr std::uint32_t path_events =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
inline constexpr std::uint32_t file_events = path_events | IN_MODIFY | IN_CLOSE_WRITE;

CDI_INLINE Error with_advice(Error error) {
  if (error.system == EMFILE) {
    error.advice = "raise fs.inotify.max_user_instances or the limit on open files";
  } else if (error.system == ENOSPC) {
    error.advice = "raise fs.inotify.max_user_watches";
  }
  return error;
}

inline std::string read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string{} : std::string(target, static_cast<std::size_t>(size));
}

inline bool is_searchable(const std::string& dir) {
  struct stat info = {};
  return ::stat((dir + "/.").c_str(), &info) == 0;
}

CDI_INLINE WatchedPaths::WatchedPaths(int inotify, const std::vector<std::string>& dirs)
    : inotify_{inotify} {
  for (const auto& dir : dirs) dirs_.push_back(clean_path(dir));  // as in `scan_spec_dirs`
}

CDI_INLINE WatchedEvent WatchedPaths::changes_in(std::string_view events) const {
  WatchedEvent change = WatchedEvent::none;
  while (!events.empty()) {
    inotify_event event;
    std::memcpy(&event, events.data(), sizeof event);
    const auto padded = events.substr(sizeof event, event.len);
    const auto name = padded.substr(0, padded.find('\0'));
    const auto found = change_of(event.mask, event.wd, name);
    if (change < found) change = found;
    events.remove_prefix(sizeof event + event.len);
  }
  return change;
}

CDI_INLINE WatchedEvent WatchedPaths::change_of(std::uint32_t mask, int number,
                                                std::string_view name) const {
  if ((mask & IN_Q_OVERFLOW) != 0) return WatchedEvent::paths;
  const Watch* const watch = find(watches_, number);
  if (watch == nullptr) return WatchedEvent::none;  // an event from a removed watch
  // An event without a name concerns the directory itself.
  if (name.empty() || holds(*watch, name)) return WatchedEvent::paths;
  return watch->specs && format_of(name) ? WatchedEvent::files : WatchedEvent::none;
}

CDI_INLINE const WatchedPaths::Watch* WatchedPaths::find(const std::vector<Watch>& watches,
                                                         int number) {
  for (const auto& watch : watches) {
    if (watch.number == number) return &watch;
  }
  return nullptr;
}

/// Returns the watch with this number, which `add` returned.
CDI_INLINE WatchedPaths::Watch& WatchedPaths::watch_of(int number) {
  std::size_t i = 0;
  while (watches_[i].number != number) ++i;
  return watches_[i];
}

CDI_INLINE bool WatchedPaths::holds(const Watch& watch, std::string_view name) {
  for (const auto& one : watch.names) {
    if (one == name) return true;
  }
  return false;
}

CDI_INLINE void WatchedPaths::rewatch() {
  error_.reset();
  const auto old = std::exchange(watches_, {});
  for (const auto& dir : dirs_) watch_dir(dir);
  for (const auto& watch : old) {
    // This fails for removed directories, whose watches the kernel has already removed.
    if (find(watches_, watch.number) == nullptr) {
      ::inotify_rm_watch(inotify_, watch.number);
    }
  }
}

CDI_INLINE void WatchedPaths::watch_dir(const std::string& dir) {
  if (dir.find('\0') != std::string::npos) return;  // no such path can exist
  int links = 40;                                   // the same limit as in Linux
  walk(dir.starts_with('/') ? "/" : ".", dir, links);
  const int found = add(dir, file_events);
  if (found >= 0) watch_of(found).specs = true;
}

/// Watches the existing directories that the lookup of `path` from `at` passes through, each for
/// the next name in the lookup. Each directory is watched before its lookup, so that changes in
/// between are reported.
CDI_INLINE void WatchedPaths::walk(std::string at, std::string_view path, int& links) {
  int watch = add(at, path_events);
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size() < path.size() ? name.size() + 1 : name.size());
    if (name.empty()) continue;
    if (watch >= 0 && !holds(watch_of(watch), name)) watch_of(watch).names.emplace_back(name);
    at.append(at.ends_with('/') ? "" : "/").append(name);
    walk_target(at, links);
    const int parent = std::exchange(watch, add(at, path_events));
    if (watch >= 0) continue;
    // The parent's watch reports when the directory is created or becomes readable.
    if (parent < 0) note_error(at, EACCES);
    if (!is_searchable(at)) return;
  }
}

/// Watches the directories that the lookup of a link's target passes through.
CDI_INLINE void WatchedPaths::walk_target(const std::string& link, int& links) {
  const auto target = read_link(link);
  if (target.empty() || links-- <= 0) return;
  const auto folder = link.substr(0, link.rfind('/') + 1);
  walk(target.starts_with('/') ? "/" : folder, target, links);
}

/// Adds a watch for a directory. Returns -1 if the path leads to no readable directory.
CDI_INLINE int WatchedPaths::add(const std::string& dir, std::uint32_t events) {
  // IN_MASK_ADD: another path to the same directory may have requested other events.
  const int watch = ::inotify_add_watch(inotify_, dir.c_str(), events | IN_ONLYDIR | IN_MASK_ADD);
  if (watch >= 0) {
    if (find(watches_, watch) == nullptr) watches_.push_back({.number = watch});
    return watch;
  }
  const int number = errno;
  const bool expected = number == ENOENT || number == ENOTDIR || number == EACCES ||
                        number == ELOOP || number == ENAMETOOLONG;
  if (!expected) note_error(dir, number);
  return -1;
}

CDI_INLINE void WatchedPaths::note_error(const std::string& dir, int number) {
  if (error_) return;
  errno = number;
  error_ = with_advice(file_error(dir, "cannot watch the directory"));
}

}  // namespace cdi::detail

#endif  // CDI_DIRS_WATCHED_PATHS_INL
