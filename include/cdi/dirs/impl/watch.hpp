// The bodies of <cdi/dirs/watch.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_WATCH_HPP
#define CDI_DIRS_IMPL_WATCH_HPP

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/dirs/watch.hpp>
#include <cdi/engine/host.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

inline constexpr std::uint32_t path_events =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
inline constexpr std::uint32_t file_events = path_events | IN_MODIFY | IN_CLOSE_WRITE;

inline Error with_advice(Error error) {
  if (error.system == EMFILE) {
    error.message.append("; raise fs.inotify.max_user_instances or the limit of open files");
  } else if (error.system == ENOSPC) {
    error.message.append("; raise fs.inotify.max_user_watches");
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

}  // namespace detail

CDI_INLINE Watcher::Watcher(Descriptor inotify, const std::vector<std::string>& dirs)
    : inotify_{std::move(inotify)} {
  for (const auto& dir : dirs) dirs_.push_back(clean_path(dir));  // as `scan_spec_dirs` does
}

CDI_INLINE Result<Watcher> Watcher::open(const std::vector<std::string>& dirs) {
  Descriptor inotify{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify) {
    return detail::with_advice(
        detail::system_error(Errc::system, "inotify is not available", errno));
  }
  Watcher watcher{std::move(inotify), dirs};
  watcher.rewatch();
  if (watcher.watch_error_) return *std::move(watcher.watch_error_);
  return Result<Watcher>{std::move(watcher)};
}

CDI_INLINE bool Watcher::consume() {
  const bool unsure = watch_error_.has_value();
  return consume_events() || unsure;
}

CDI_INLINE bool Watcher::wait_until(std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  for (;;) {
    if (consume_events()) return true;
    const auto now = steady_clock::now();
    if (deadline <= now) return false;
    const milliseconds longest = watch_error_ ? milliseconds{100} : milliseconds{hours{1}};
    const auto left = ceil<milliseconds>(deadline - now);
    const auto rest = left < longest ? left : longest;
    pollfd one{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
    ::poll(&one, 1, static_cast<int>(rest.count()));  // a signal ends it early: checked again
    if (watch_error_) return true;
  }
}

CDI_INLINE bool Watcher::consume_events() {
  const Change change = read_events();
  const bool had_error = watch_error_.has_value();
  if (change == Change::paths || had_error) rewatch();
  return change != Change::none || (had_error && !watch_error_);
}

/// Reads the events that are in the queue now, and not those that are added meanwhile.
CDI_INLINE Watcher::Change Watcher::read_events() {
  Change change = Change::none;
  alignas(inotify_event) char block[16384];
  int queued = 0;
  ::ioctl(inotify_.get(), FIONREAD, &queued);
  while (queued > 0) {
    const ssize_t got = ::read(inotify_.get(), block, sizeof block);
    if (got <= 0) break;
    queued -= static_cast<int>(got);
    change = greater(change, changes_in({block, static_cast<std::size_t>(got)}));
  }
  return change;
}

CDI_INLINE Watcher::Change Watcher::changes_in(std::string_view events) const {
  Change change = Change::none;
  while (!events.empty()) {
    inotify_event event;
    std::memcpy(&event, events.data(), sizeof event);
    const auto padded = events.substr(sizeof event, event.len);
    const auto name = padded.substr(0, padded.find('\0'));
    change = greater(change, change_of(event.mask, event.wd, name));
    events.remove_prefix(sizeof event + event.len);
  }
  return change;
}

CDI_INLINE Watcher::Change Watcher::change_of(std::uint32_t mask, int number,
                                              std::string_view name) const {
  if ((mask & IN_Q_OVERFLOW) != 0) return Change::paths;
  const Watch* const watch = find(watches_, number);
  if (watch == nullptr) return Change::none;  // an event of a watch that was removed
  // An event without a name concerns the directory itself.
  if (name.empty() || holds(*watch, name)) return Change::paths;
  return watch->specs && format_of(name) ? Change::files : Change::none;
}

CDI_INLINE const Watcher::Watch* Watcher::find(const std::vector<Watch>& watches, int number) {
  for (const auto& watch : watches) {
    if (watch.number == number) return &watch;
  }
  return nullptr;
}

/// The watch with a number that `add` returned.
CDI_INLINE Watcher::Watch& Watcher::watch_of(int number) {
  std::size_t i = 0;
  while (watches_[i].number != number) ++i;
  return watches_[i];
}

CDI_INLINE bool Watcher::holds(const Watch& watch, std::string_view name) {
  for (const auto& one : watch.names) {
    if (one == name) return true;
  }
  return false;
}

/// Resolves all paths again, and removes the watches that no path passes through any more.
CDI_INLINE void Watcher::rewatch() {
  watch_error_.reset();
  const auto old = std::exchange(watches_, {});
  for (const auto& dir : dirs_) watch_dir(dir);
  for (const auto& watch : old) {
    // Fails for removed directories: the kernel has removed their watches.
    if (find(watches_, watch.number) == nullptr) {
      ::inotify_rm_watch(inotify_.get(), watch.number);
    }
  }
}

CDI_INLINE void Watcher::watch_dir(const std::string& dir) {
  if (dir.find('\0') != std::string::npos) return;  // no such path can exist
  int links = 40;                                   // Linux follows as many
  walk(dir.starts_with('/') ? "/" : ".", dir, links);
  const int found = add(dir, detail::file_events);
  if (found >= 0) watch_of(found).specs = true;
}

/// Watches the directories that the lookup of `path` from `at` on passes through, each for the name
/// that is looked up in it, as far as they exist. Each is watched before the lookup, so that a
/// change in between is reported.
CDI_INLINE void Watcher::walk(std::string at, std::string_view path, int& links) {
  int watch = add(at, detail::path_events);
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size() < path.size() ? name.size() + 1 : name.size());
    if (name.empty()) continue;
    if (watch >= 0 && !holds(watch_of(watch), name)) watch_of(watch).names.emplace_back(name);
    at.append(at.ends_with('/') ? "" : "/").append(name);
    walk_target(at, links);
    const int parent = std::exchange(watch, add(at, detail::path_events));
    if (watch >= 0) continue;
    // The watch of its parent reports when it is created or becomes readable.
    if (parent < 0) note_error(at, EACCES);
    if (!detail::is_searchable(at)) return;
  }
}

/// Watches the directories that the target of a link passes through.
CDI_INLINE void Watcher::walk_target(const std::string& link, int& links) {
  const auto target = detail::read_link(link);
  if (target.empty() || links-- <= 0) return;
  const auto folder = link.substr(0, link.rfind('/') + 1);
  walk(target.starts_with('/') ? "/" : folder, target, links);
}

/// Adds a watch for a directory. -1 if there is no directory at that path or it may not be read.
CDI_INLINE int Watcher::add(const std::string& dir, std::uint32_t events) {
  // IN_MASK_ADD: another path may lead to the same directory, for other events.
  const int watch =
      ::inotify_add_watch(inotify_.get(), dir.c_str(), events | IN_ONLYDIR | IN_MASK_ADD);
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

CDI_INLINE void Watcher::note_error(const std::string& dir, int number) {
  if (watch_error_) return;
  errno = number;
  watch_error_ = detail::with_advice(file_error(dir, "cannot watch the directory"));
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_WATCH_HPP
