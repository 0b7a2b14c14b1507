// `Watcher`: reports changes of spec directories through inotify.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// Reports by inotify that something in a set of spec directories may have changed.
///
/// It reports spec files (`format_of`) that are written, created, linked, removed, moved in or out,
/// or get another mode or owner; and directories, and links on the way to them, that are created,
/// removed or replaced, at any level. It ignores writes to other files.
///
/// inotify does not report: changes of the target of a linked file; writes through a hard link
/// elsewhere, or through a memory map until the file is closed; a mount over a directory; changes
/// by other hosts on a network file system; links in a directory that this process may search but
/// not read. Compare signatures, too, if these matter.
///
/// Holds one descriptor and no thread. Only one thread at a time may use it. A watcher that was
/// moved from can only be assigned to.
class Watcher {
 public:
  /// Watches directories; a missing directory may be created later. Relative paths are resolved
  /// now; after `chdir`, call `rewatch`. `Errc::system` if inotify is not available or cannot watch
  /// all of them (EMFILE, ENFILE, ENOSPC, EACCES): compare signatures then.
  static Result<Watcher> open(const std::vector<std::string>& dirs);

  /// A descriptor that is readable (`poll`, `epoll`) when something may have changed, and also for
  /// events that turn out to be irrelevant: `consume` decides. Never read from it. Closed with the
  /// watcher.
  int descriptor() const { return inotify_.get(); }

  /// Consumes all events since the last call, and returns whether something may have changed since
  /// then. Consume first, then read the files: the next call reports what changes meanwhile. Never
  /// waits. Watches directories that were created or replaced.
  bool consume();

  /// Resolves all paths again, for a caller who sees that one leads elsewhere, for example after a
  /// mount. `watch_error` has what cannot be watched.
  void rewatch();

  /// Waits until something may have changed, and consumes the events. False if the deadline passes
  /// first; earlier events count even then. With a `watch_error`, it returns true after 100 ms at
  /// the latest.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

  /// Why a directory that was created later cannot be watched, for example because the limit of
  /// watches is reached; nothing if all are watched. As long as there is an error, `consume` is
  /// always true and tries again, and `descriptor` misses changes.
  const std::optional<Error>& watch_error() const { return paths_.error(); }

 private:
  Watcher(Descriptor inotify, const std::vector<std::string>& dirs);

  bool consume_events();
  detail::WatchedChange read_events();

  Descriptor inotify_;
  detail::WatchedPaths paths_;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/watch.inl>
#endif

#endif  // CDI_DIRS_WATCH_HPP
