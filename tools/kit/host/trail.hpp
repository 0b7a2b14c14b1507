// What a program saw of a host's files, and whether it would see the same again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_TRAIL_HPP
#define CDI_TOOLS_KIT_HOST_TRAIL_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <tuple>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/result.hpp>

#include "directory_names.hpp"
#include "host_observer.hpp"
#include "rooted_paths.hpp"

namespace tools {

/// The files that a program looked at, with what it saw. A later check makes one system call for
/// most of them, and reads again only what the kernel makes up, in /proc and /sys.
///
/// What /sys lists, and which links it has, is not read again, because the kernel sends messages
/// about changes: see `needs_events`. Such a file that is replaced has another inode.
class Trail : public HostObserver {
 public:
  std::size_t add_root(const std::string& directory, const std::optional<std::string>&) override {
    auto paths = RootedPaths::open(directory);
    struct stat status = {};
    if (!paths || ::fstat(paths->root().get(), &status) != 0) {
      give_up();
    } else {
      roots_.push_back({directory, std::move(*paths), status});
    }
    return roots_.size() - 1;
  }

  void asked(const Path&) override {}

  void found(const Path& path, Last last, const cdi::Result<struct stat>& file) override {
    const bool is_link = file && S_ISLNK(file->st_mode);
    if (ended_ || (file && is_fixed(path, *file))) return;
    record(path, last, file, is_link ? How::whole : How::there);
  }

  void read(const Path& path, const struct stat& before,
            const cdi::Result<std::string>& text) override {
    if (ended_ || is_fixed(path, before)) return;
    const auto system = system_of(path, before);
    const bool is_made_up = system == System::proc || system == System::sys;
    auto& look = record(path, Last::follow, before, is_made_up ? How::text : How::whole);
    if (is_made_up) look.text = as_text(text);
  }

  void listed(const Path& path, const struct stat& before,
              const cdi::Result<Names>& names) override {
    if (!names && names.error().system != ENOENT) give_up();
    if (!names) return found(path, Last::follow, names.error());
    if (ended_) return;
    const auto system = system_of(path, before);
    const auto how = system == System::proc  ? How::names
                     : system == System::sys ? How::there
                                             : How::whole;
    auto& look = record(path, Last::follow, before, how);
    if (how == How::names) look.text = as_text(*names);
  }

  /// The trail cannot check later whether a device opens.
  void tried_device(const Path&) override { give_up(); }

  /// What is looked at from now on does not belong to the trail.
  void end() {
    ended_ = true;
    if (is_certain_) join_missing();
  }

  /// Whether `is_same` can tell. Not for files that were changed just now, whose times would not
  /// show another change, for file systems with unknown rules, and if files changed on the way.
  bool is_certain() const { return is_certain_; }

  /// Whether files of /sys were seen: then `is_same` is only right while the kernel sends messages
  /// about devices, and no such message came.
  bool needs_events() const { return needs_events_; }

  /// Whether the program would see the same again.
  bool is_same() const {
    if (!is_certain_) return false;
    for (const auto& root : roots_) {
      struct stat now = {};
      const bool same = ::stat(root.path.c_str(), &now) == 0 && now.st_dev == root.status.st_dev &&
                        now.st_ino == root.status.st_ino;
      if (!same) return false;
    }
    return std::all_of(looks_.begin(), looks_.end(),
                       [this](const auto& entry) { return is_same(entry.first, entry.second); });
  }

  /// How many files a check looks at.
  std::size_t size() const { return looks_.size(); }

 private:
  /// Something was seen that cannot be checked.
  void give_up() { is_certain_ = false; }

  enum class System : std::uint8_t { files, proc, sys, unknown };

  /// What must be the same.
  enum class How : std::uint8_t {
    there,  // which file it is, and who may use it
    whole,  // also its size and times, which change with the content
    text,   // also the content
    names,  // also the names in the directory
  };

  struct Root {
    std::string path{};
    RootedPaths paths;
    struct stat status = {};
  };

  using Place = std::tuple<std::size_t, std::string, Last>;

  struct State {
    cdi::Signature signature{};
    uid_t uid = 0;
    gid_t gid = 0;
    dev_t number = 0;

    friend bool operator==(const State&, const State&) = default;
  };

  struct Look {
    How how = How::there;
    System system = System::unknown;
    bool is_plain = false;  // the path leads to the same file if links may leave the root
    int error = 0;          // why there is no file
    State state{};
    std::string text{};
  };

  Look& record(const Path& path, Last last, const cdi::Result<struct stat>& found, How how) {
    Look now{.how = how, .error = found ? 0 : found.error().system};
    if (!found && now.error == 0) give_up();
    if (found) {
      now.system = system_of(path, *found);
      if (now.system == System::sys) {
        needs_events_ = true;
        if (how == How::whole) now.how = How::there;
      }
      now.state = state_of(*found, now);
      const bool is_known = now.system != System::unknown || how == How::there;
      const bool is_old = now.how != How::whole || cdi::is_stable(now.state.signature, start_);
      if (!is_known || !is_old) give_up();
    }
    auto [known, is_new] = looks_.try_emplace({path.root, path.path, last});
    auto& look = known->second;
    const bool agrees =
        is_new || (look.error == now.error && (!found || state_of(*found, look) == look.state));
    if (!agrees) give_up();
    if (!is_new && now.how < look.how) return look;
    now.is_plain = is_new ? is_plain(known->first, now) : look.is_plain;
    look = std::move(now);
    return look;
  }

  /// Whether the content of a file never changes: what a device is. A device that is replaced
  /// causes messages.
  bool is_fixed(const Path& path, const struct stat& found) {
    constexpr std::string_view names[] = {
        "class", "dev", "device", "subsystem_device", "vendor", "subsystem_vendor"};
    const auto name = std::string_view{path.path}.substr(path.path.rfind('/') + 1);
    const bool is_one = std::find(std::begin(names), std::end(names), name) != std::end(names);
    if (!is_one || !S_ISREG(found.st_mode)) return false;
    if (system_of(path, found) != System::sys) return false;
    needs_events_ = true;
    return true;
  }

  System system_of(const Path& path, const struct stat& found) {
    const auto known = systems_.find(found.st_dev);
    if (known != systems_.end()) return known->second;
    if (path.root >= roots_.size()) return System::unknown;
    const auto flags = O_PATH | (S_ISLNK(found.st_mode) ? O_NOFOLLOW : 0);
    const auto file = roots_[path.root].paths.open_file(path.path, flags);
    struct stat status = {};
    struct statfs about = {};
    const bool is_it = file && ::fstat(file.get(), &status) == 0 && status.st_dev == found.st_dev &&
                       ::fstatfs(file.get(), &about) == 0;
    if (!is_it) return System::unknown;
    const auto system = named(static_cast<std::uint32_t>(about.f_type));
    systems_[found.st_dev] = system;
    return system;
  }

  /// Local file systems, whose times this host sets, count as files.
  static System named(std::uint32_t type) {
    constexpr std::uint32_t files[] = {
        0xEF53,     0x58465342, 0x9123683E, 0x01021994, 0x858458f6, 0x794c7630,
        0xF2F52010, 0x73717368, 0xE0F5E1E2, 0x2FC12FC1, 0xca451a4e};  // ext4, XFS, Btrfs, tmpfs,
                                                                      // ramfs, overlay, F2FS,
                                                                      // SquashFS, EROFS, ZFS,
                                                                      // bcachefs
    if (type == 0x9fa0) return System::proc;
    if (type == 0x62656572) return System::sys;
    const bool is_file = std::find(std::begin(files), std::end(files), type) != std::end(files);
    return is_file ? System::files : System::unknown;
  }

  /// What a look compares. Inodes of /proc are numbered anew when the kernel needs memory.
  static State state_of(const struct stat& found, const Look& look) {
    State out{cdi::signature_of(found), found.st_uid, found.st_gid, found.st_rdev};
    auto& signature = out.signature;
    if (look.how != How::whole) {
      signature = {.device = signature.device, .inode = signature.inode, .mode = signature.mode};
    }
    if (look.system == System::proc) signature.inode = 0;
    return out;
  }

  /// Whether one system call finds the file: links that would lead out of the root do not matter.
  bool is_plain(const Place& place, const Look& look) const {
    const auto& [root, path, last] = place;
    const bool is_below = path.starts_with('/') && !path.starts_with("//");
    return look.error == 0 && root < roots_.size() && is_below && is_at_once(place, look);
  }

  /// Whether a lookup that links can lead out of the root has the same result.
  bool is_at_once(const Place& place, const Look& look) const {
    const auto& [root, path, last] = place;
    const char* const below = path.size() > 1 ? path.c_str() + 1 : ".";
    const int flags = last == Last::keep ? AT_SYMLINK_NOFOLLOW : 0;
    struct stat now = {};
    return ::fstatat(roots_[root].paths.root().get(), below, &now, flags) == 0 &&
           state_of(now, look) == look.state;
  }

  /// Looks at directories in the place of the files that are missing in them.
  void join_missing() {
    std::map<Place, std::vector<Place>> missing;  // by directory
    for (const auto& [place, look] : looks_) {
      if (look.error != ENOENT) continue;
      if (auto above = directory_without(place)) missing[std::move(*above)].push_back(place);
    }
    for (const auto& [above, places] : missing) {
      const auto& [root, path, last] = above;
      const auto found = roots_[root].paths.status(path, last);
      if (!found) continue;
      const auto system = system_of({root, path}, *found);
      const bool shows_it = system == System::files &&
                            cdi::is_stable(cdi::signature_of(*found), start_) && places.size() > 1;
      if (system != System::sys && !shows_it) continue;
      record({root, path}, last, *found, How::whole);
      for (const auto& place : places) looks_.erase(place);
    }
  }

  /// The directory above a missing file that has no entry for the next part of its path, not even a
  /// link that leads nowhere.
  std::optional<Place> directory_without(const Place& place) const {
    auto [root, path, last] = place;
    while (path.starts_with('/') && path != "/") {
      const auto entry = roots_[root].paths.status(path, Last::keep);
      if (entry || entry.error().system != ENOENT) break;
      auto above = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
      if (roots_[root].paths.status(above, Last::follow)) {
        return Place{root, std::move(above), Last::follow};
      }
      path = std::move(above);
    }
    return std::nullopt;
  }

  bool is_same(const Place& place, const Look& look) const {
    const auto& [root, path, last] = place;
    if (look.how == How::text) return read_again(place) == look.text;
    if (look.how == How::names) return list_again(place) == look.text;
    if (look.is_plain) return is_at_once(place, look);
    const auto now = roots_[root].paths.status(path, last);
    if (!now) return now.error().system == look.error;
    return look.error == 0 && state_of(*now, look) == look.state;
  }

  static std::string as_text(const cdi::Result<std::string>& text) {
    return text ? "=" + *text : "!" + std::to_string(text.error().system);
  }

  static std::string as_text(const Names& names) {
    std::string out;
    for (const auto& name : names) out.append(name).append("/");
    return out;
  }

  std::string read_again(const Place& place) const {
    const auto& [root, path, last] = place;
    const auto file = roots_[root].paths.open_file(path, O_RDONLY | O_NONBLOCK);
    if (!file) return "!" + std::to_string(errno);
    return as_text(cdi::read_all(file.get(), path, SIZE_MAX - 1));
  }

  std::string list_again(const Place& place) const {
    const auto& [root, path, last] = place;
    const auto names =
        names_in(directory_of(roots_[root].paths.open_file(path, O_RDONLY | O_DIRECTORY)));
    return names ? as_text(*names) : "!" + std::to_string(errno);
  }

  timespec start_ = cdi::file_clock();
  std::vector<Root> roots_{};
  std::map<dev_t, System> systems_{};
  std::map<Place, Look> looks_{};
  bool is_certain_ = true;
  bool needs_events_ = false;
  bool ended_ = false;
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_TRAIL_HPP
