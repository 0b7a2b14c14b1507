// `Watcher`: reports changes of spec directories through inotify.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_WATCH_HPP
#define CDI_DIRS_WATCH_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
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

  /// Consumes all events since the last call. Whether something may have changed since then.
  /// Consume first, then read the files: the next call reports what changes meanwhile. Never waits.
  /// Watches directories that were created or replaced.
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
  const std::optional<Error>& watch_error() const { return watch_error_; }

 private:
  /// What is watched in one directory: spec files, and the names that the lookup of a path passes
  /// through. Each inode has one watch.
  struct Watch {
    int number;  // the watch descriptor
    bool specs = false;
    std::vector<std::string> names{};
  };

  /// What events may have changed; a later value includes the earlier ones.
  enum class Change : std::uint8_t { none, files, paths };

  Watcher(Descriptor inotify, const std::vector<std::string>& dirs);

  static const Watch* find(const std::vector<Watch>& watches, int number);
  static bool holds(const Watch& watch, std::string_view name);
  static Change greater(Change a, Change b) { return a < b ? b : a; }

  bool consume_events();
  Change read_events();
  Change changes_in(std::string_view events) const;
  Change change_of(std::uint32_t mask, int number, std::string_view name) const;
  Watch& watch_of(int number);
  void watch_dir(const std::string& dir);
  void walk(std::string at, std::string_view path, int& links);
  void walk_target(const std::string& link, int& links);
  int add(const std::string& dir, std::uint32_t events);
  void note_error(const std::string& dir, int number);

  Descriptor inotify_;
  std::vector<std::string> dirs_{};
  std::vector<Watch> watches_{};
  std::optional<Error> watch_error_{};
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/watch.hpp>
#endif

#endif  // CDI_DIRS_WATCH_HPP
