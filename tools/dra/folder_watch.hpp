// Watches folders that other programs remove, recreate and mount over.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/inotify.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

namespace dra {

/// Reports that something may have changed in folders, which may be missing. The caller examines
/// them.
class FolderWatch {
 public:
  /// The paths must be absolute.
  static cdi::Result<FolderWatch> open(std::vector<std::string> folders) {
    cdi::Descriptor events{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (!events) return cdi::file_error("inotify", "cannot watch folders");
    FolderWatch out{std::move(folders), std::move(events)};
    out.watch_again();
    return out;
  }

  /// Also watches this folder from now on.
  void include(const std::string& folder) {
    if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) return;
    folders_.push_back(folder);
    watch_again();
  }

  /// What `poll` waits for: changes of files, and of mounts.
  std::array<pollfd, 2> polled() const {
    return {pollfd{events_.get(), POLLIN, 0}, pollfd{mounts_.get(), POLLPRI, 0}};
  }

  /// Forgets past changes, and watches new folders.
  void drain() {
    alignas(inotify_event) char text[8192];
    while (::read(events_.get(), text, sizeof text) > 0 || errno == EINTR) {
    }
    watch_again();
  }

 private:
  FolderWatch(std::vector<std::string> folders, cdi::Descriptor events)
      : folders_{std::move(folders)},
        events_{std::move(events)},
        mounts_{::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)} {}

  /// Watches the folders and their parents. Existing watches stay.
  void watch_again() {
    constexpr std::uint32_t inside = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                     IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF;
    constexpr std::uint32_t above = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
    for (const auto& folder : folders_) {
      // Twice, because a folder may appear unseen before its parent is watched.
      for (int pass = 0; pass < 2; ++pass) {
        add(folder, inside);
        auto path = std::filesystem::path{folder};
        do {
          path = path.parent_path();
        } while (!add(path.string(), above) && path.has_relative_path());
      }
    }
  }

  bool add(const std::string& path, std::uint32_t mask) const {
    constexpr std::uint32_t how = IN_ONLYDIR | IN_MASK_ADD;
    return ::inotify_add_watch(events_.get(), path.c_str(), mask | how) >= 0;
  }

  std::vector<std::string> folders_;
  cdi::Descriptor events_;
  cdi::Descriptor mounts_;
};

}  // namespace dra
