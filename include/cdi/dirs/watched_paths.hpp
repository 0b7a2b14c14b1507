// The inotify watches of paths: one for each directory that a path lookup passes through.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_WATCHED_PATHS_HPP
#define CDI_DIRS_WATCHED_PATHS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// What inotify events may have changed; a later value includes the earlier values.
enum class WatchedEvent : std::uint8_t { none, files, paths };

/// The paths of spec directories, and the watches that report when a spec file in them changes or
/// when a path leads to another directory.
class WatchedPaths {
 public:
  /// `inotify` is a descriptor that must stay open for the lifetime of this object. Nothing is
  /// watched before `rewatch`.
  WatchedPaths(int inotify, const std::vector<std::string>& dirs);

  /// Resolves all paths again, and removes watches that no path passes through any more.
  void rewatch();

  /// Returns why a directory cannot be watched; empty if all are watched.
  const std::optional<Error>& error() const { return error_; }

  /// Returns what a block of events, as read from inotify, may have changed.
  WatchedEvent changes_in(std::string_view events) const;

 private:
  /// What is watched in one directory: spec files, and the names that a path lookup passes through.
  /// Each inode has one watch.
  struct Watch {
    int number;  // the watch descriptor
    bool specs = false;
    std::vector<std::string> names{};
  };

  static const Watch* find(const std::vector<Watch>& watches, int number);
  static bool holds(const Watch& watch, std::string_view name);

  WatchedEvent change_of(std::uint32_t mask, int number, std::string_view name) const;
  Watch& watch_of(int number);
  void watch_dir(const std::string& dir);
  void walk(std::string at, std::string_view path, int& links);
  void walk_target(const std::string& link, int& links);
  int add(const std::string& dir, std::uint32_t events);
  void note_error(const std::string& dir, int number);

  int inotify_;
  std::vector<std::string> dirs_{};
  std::vector<Watch> watches_{};
  std::optional<Error> error_{};
};

/// Adds advice on which limit to raise to an inotify error.
Error with_advice(Error error);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/dirs/watched_paths.inl>
#endif

#endif  // CDI_DIRS_WATCHED_PATHS_HPP
