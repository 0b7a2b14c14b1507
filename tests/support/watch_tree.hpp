// Shared by the tests of watchers: a tree to change, and whether a change was reported.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/watch.hpp>

#include "temp_tree.hpp"

using Names = std::vector<std::string>;

/// A tree with functions for every kind of change.
class Tree : public TempTree {
 public:
  std::string make_dirs(std::string_view name) const {
    std::filesystem::create_directories(*this / name);
    return *this / name;
  }
  void put(std::string_view name, std::string_view text = "text") const {
    TempTree::put(name, text);
  }
  void move(std::string_view from, std::string_view to) const {
    REQUIRE(::rename((*this / from).c_str(), (*this / to).c_str()) == 0);
  }
  void remove(std::string_view name) const { std::filesystem::remove_all(*this / name); }
  void link(const std::string& to, std::string_view name) const {
    TempTree::link(to.c_str(), name);
  }
  void mode(std::string_view name, mode_t mode) const {
    REQUIRE(::chmod((*this / name).c_str(), mode) == 0);
  }
};

/// A watcher of directories. The test fails if they cannot be watched.
inline cdi::Watcher watch(const Names& dirs) {
  auto watcher = cdi::Watcher::open(dirs);
  const std::string why = watcher ? "" : to_string(watcher.error());
  INFO(why);
  REQUIRE(watcher);
  return std::move(*watcher);
}

/// Whether a change was reported, and all events were consumed at once.
inline bool reports_change(cdi::Watcher& watcher) {
  const bool changed = watcher.consume();
  CHECK_FALSE(watcher.consume());
  return changed;
}

inline bool readable(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

/// Restores the working directory. The tests watch relative paths, of which only the last part is
/// watched, so that other processes in "/tmp" do not cause events.
class Return {
 public:
  Return() = default;
  Return(const Return&) = delete;
  Return& operator=(const Return&) = delete;
  ~Return() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

/// The number of watches of a watcher.
inline std::size_t watches_of(const cdi::Watcher& watcher) {
  std::ifstream file{"/proc/self/fdinfo/" + std::to_string(watcher.descriptor())};
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("inotify ")) ++count;
  }
  return count;
}
