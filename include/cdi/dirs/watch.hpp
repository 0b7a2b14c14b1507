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

/// Tells when something in a set of spec directories may have changed, by inotify.
///
/// Told are: spec files (`format_of`) that are written, made, linked, removed, moved in or out, or
/// get another mode or owner; directories that come, go, or are replaced, and links on the way to
/// them that are, at any level. Writing of other files counts for nothing.
///
/// inotify cannot tell: what happens to the target of a linked file; what is written through a hard
/// link elsewhere, or through a memory map until the file is closed; what is mounted over a
/// directory; what others change on a network file system; links in a directory that we may search
/// but not read. Whoever has to know these compares signatures, too.
///
/// Holds one descriptor and no thread. To be used by one thread at a time; moved from, it can only
/// be assigned to.
class Watcher {
 public:
  /// Watches directories; those that are missing may come later. Relative paths start where the
  /// process is now; after `chdir`, `renew`. `Errc::system` when inotify cannot be had or cannot
  /// watch all of them (EMFILE, ENFILE, ENOSPC, EACCES): compare signatures then.
  static Result<Watcher> open(const std::vector<std::string>& dirs);

  /// Readable (`poll`, `epoll`) when something may have changed, and also for events that turn out
  /// to count for nothing: ask `take`. Never read from it. Closed with the watcher.
  int descriptor() const { return inotify_.get(); }

  /// Takes all that was told since the last call: whether something may have changed since then.
  /// Take first, then look at the files: what changes meanwhile is told next time. Never waits.
  /// Watches anew what came or was replaced.
  bool consume();

  /// Looks all paths up anew: for whoever sees that one leads elsewhere, as after a mount. What
  /// cannot be watched is in `blind`.
  void rewatch();

  /// Waits until something may have changed, and takes it. False when the deadline is over first;
  /// what was told before counts even then. While `blind`, it returns true after 100 ms at the
  /// latest.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

  /// Why something that came later cannot be watched, for instance since the limit of watches is
  /// reached; nothing when all is watched. `take` is true then, each time, and tries again;
  /// `descriptor` does not tell all.
  const std::optional<Error>& watch_error() const { return watch_error_; }

 private:
  /// What is waited for in one directory: spec files, and the names that the lookup of a path goes
  /// through. Each inode has one.
  struct Watch {
    int number;  // the watch descriptor
    bool specs = false;
    std::vector<std::string> names{};
  };

  /// What events are about; the later includes the earlier.
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
