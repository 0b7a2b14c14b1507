// `Watcher`: reports changes in spec directories through inotify.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_WATCH_HPP
#define CDI_DIRS_WATCH_HPP

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/watched_paths.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Reports through inotify that something in a set of spec directories may have changed.
///
/// A watcher reports spec files (`format_of`) that are written, created, linked, removed, moved in
/// or out, or given another mode or owner. It also reports directories, and links on the way to
/// them, that are created, removed or replaced, at any level. Writes to other files are ignored.
///
/// inotify does not report: changes to a linked file's target; writes through a hard link
/// elsewhere, or through a memory map until the file is closed; a mount over a directory; changes
/// by other hosts on a network file system; links in a directory that this process may search but
/// not read. Compare signatures as well if these matter.
///
/// Holds one descriptor and no thread. Only one thread at a time may use a watcher. A moved-from
/// watcher can only be assigned to.
class Watcher {
 public:
  /// Watches directories; a missing directory may be created later. Relative paths are resolved
  /// now; after `chdir`, call `rewatch`. Fails with `Errc::system` if inotify is unavailable or
  /// cannot watch all directories (EMFILE, ENFILE, ENOSPC, EACCES): compare signatures instead.
  static Result<Watcher> open(const std::vector<std::string>& dirs);

  /// Returns a descriptor that is readable (`poll`, `epoll`) when something may have changed, but
  /// also after events that turn out to be irrelevant: `consume` decides. Never read from the
  /// descriptor. The watcher closes it.
  int descriptor() const { return inotify_.get(); }

  /// Consumes all events since the last call, and returns whether something may have changed.
  /// Consume first, then read the files: the next call reports changes in between. Never waits.
  /// Also watches directories that were created or replaced.
  bool consume();

  /// Resolves all paths again, for callers who notice that a path leads elsewhere, for example
  /// after a mount. `watch_error` then returns what cannot be watched.
  void rewatch();

  /// Waits until something may have changed, and consumes the events. Returns false if the deadline
  /// passes without an event. With a `watch_error`, returns true after 100 ms at the latest.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

  /// Returns why a directory that was created later cannot be watched, for example because the
  /// limit on watches is reached; empty if all are watched. As long as there is an error, `consume`
  /// tries again and returns true, and `descriptor` misses changes.
  const std::optional<Error>& watch_error() const { return paths_.error(); }

 private:
  Watcher(Descriptor inotify, const std::vector<std::string>& dirs);

  bool consume_events();
  void read_events();

  Descriptor inotify_;
  detail::WatchedPaths paths_;
  detail::WatchedEvent unhandled_ = detail::WatchedEvent::none;  // what was read and not reported
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/watch.inl>
#endif

#endif  // CDI_DIRS_WATCH_HPP
