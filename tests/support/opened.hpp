// Which files of a directory are opened, for tests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstring>
#include <string>
#include <sys/inotify.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

/// Records which files of a directory are opened, by inotify.
class Opened {
 public:
  explicit Opened(const std::string& dir) : inotify_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {
    REQUIRE(::inotify_add_watch(inotify_.get(), dir.c_str(), IN_OPEN) >= 0);
  }
  /// The names opened since the last call; "" for the directory itself.
  std::vector<std::string> take() {
    std::vector<std::string> names;
    alignas(inotify_event) char block[65536];
    for (;;) {
      const auto got = ::read(inotify_.get(), block, sizeof block);
      if (got <= 0) return names;
      for (ssize_t at = 0; at < got;) {
        inotify_event event;
        std::memcpy(&event, block + at, sizeof event);
        names.emplace_back(event.len == 0 ? "" : block + at + sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
  }

 private:
  cdi::Descriptor inotify_;
};
