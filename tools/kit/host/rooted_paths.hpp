// Resolves paths under a directory as if it were /.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_ROOTED_PATHS_HPP
#define CDI_TOOLS_KIT_HOST_ROOTED_PATHS_HPP

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <fcntl.h>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/result.hpp>

#include "../base/text.hpp"

namespace tools {

/// The target of a link; nullopt if the file is not a link.
inline std::optional<std::string> read_link(int directory, const std::string& name) {
  char target[PATH_MAX];
  const auto size = ::readlinkat(directory, name.c_str(), target, sizeof target);
  if (size < 0) return std::nullopt;
  return std::string{target, static_cast<std::size_t>(size)};
}

/// `struct open_how` of openat2(2), which some C libraries lack.
struct OpenHow {
  std::uint64_t flags = 0;
  std::uint64_t mode = 0;
  std::uint64_t resolve = 0;
};

/// Opens a path as if `root` were /, by openat2(2). Follows no magic links of /proc. If it fails,
/// `errno` says why: `ENOSYS` before Linux 5.6, `EPERM` also for a seccomp filter, and `EAGAIN`
/// while another process renames directories.
inline cdi::Descriptor open_in_root(int root, const std::string& path, int flags) {
#ifdef SYS_openat2
  constexpr std::uint64_t no_magic_links = 0x02;
  constexpr std::uint64_t in_root = 0x10;
  const OpenHow how{.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC,
                    .resolve = in_root | no_magic_links};
  const auto opened = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  return cdi::Descriptor{static_cast<int>(opened)};
#else
  static_cast<void>(root), static_cast<void>(path), static_cast<void>(flags);
  errno = ENOSYS;
  return cdi::Descriptor{-1};
#endif
}

/// An error about a file: `PATH: REASON`.
inline cdi::Error path_error(std::string_view path, int number, std::string_view reason = {}) {
  std::string message{path};
  message.append(": ");
  message.append(reason.empty() ? std::generic_category().message(number) : std::string{reason});
  return {.code = cdi::Errc::system, .message = std::move(message), .system = number};
}

/// A file name in a directory, and the open directories that lead to it.
struct Place {
  std::vector<cdi::Descriptor> way{};  // open directories, from the root to the file's directory
  std::vector<std::string> names{};    // of these directories, without the root
  std::string name = ".";
  struct stat status = {};
  std::vector<std::string> missing{};  // the rest of the path, last part first

  /// The path without links, if this is the end of a resolved path.
  std::string path() const {
    std::string text;
    for (const auto& part : names) text.append("/").append(part);
    if (name != ".") text.append("/").append(name);
    for (auto part = missing.rbegin(); part != missing.rend(); ++part) {
      text.append("/").append(*part);
    }
    return text.empty() ? "/" : text;
  }
  int directory() const { return way.back().get(); }
  bool is_link() const { return S_ISLNK(status.st_mode); }
  bool read_status() {
    return ::fstatat(directory(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  }
  cdi::Descriptor open(int flags) const {
    return cdi::Descriptor{::openat(directory(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)};
  }
  /// Creates the directory, readable by all whatever the umask is.
  bool make() const { return cdi::detail::make_directory(directory(), name, 0755); }
  bool enter() {
    names.push_back(name);
    way.push_back(open(O_PATH | O_DIRECTORY));
    return static_cast<bool>(way.back());
  }
  void leave() {
    if (names.empty()) return;
    way.pop_back();
    names.pop_back();
  }
  void leave_all() {
    way.erase(way.begin() + 1, way.end());
    names.clear();
  }
};

/// The paths under a directory, as if that directory were /. No link leads out, even if another
/// process changes links at the same time.
class RootedPaths {
 public:
  enum class Last : std::uint8_t { follow, keep };  // how to treat a link at the end of a path

  /// How to treat a missing part of a path.
  enum class IfMissing : std::uint8_t {
    fail,
    make,    // a directory
    report,  // report the missing parts in the `Place`
  };

  static constexpr int link_limit = 40;  // links on a path, as in the kernel

  static cdi::Result<RootedPaths> open(const std::string& root) {
    cdi::Descriptor descriptor{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!descriptor) return path_error(root, errno);
    return RootedPaths{std::move(descriptor)};
  }

  /// The open directory that is used as /.
  const cdi::Descriptor& root() const { return root_; }

  /// The `stat` of a file. The kernel resolves the path if it can: most files of a survey are ten
  /// directories deep, and `find` makes three system calls for each directory.
  cdi::Result<struct stat> status(const std::string& path, Last last) const {
    if (const auto file = open_at_once(path, O_PATH | (last == Last::keep ? O_NOFOLLOW : 0))) {
      struct stat status = {};
      if (::fstat(file.get(), &status) == 0) return status;
    } else if (errno == ENOENT) {
      return path_error(path, ENOENT);
    }
    const auto place = find(path, last);
    if (!place) return place.error();
    return place->status;
  }

  /// Opens the file that a path leads to, in the same way. If that fails, `errno` says why.
  cdi::Descriptor open_file(const std::string& path, int flags) const {
    auto file = open_at_once(path, flags);
    if (file || errno == ENOENT) return file;
    const auto place = find(path, Last::follow);
    if (place) return place->open(flags);
    errno = place.error().system;
    return cdi::Descriptor{-1};
  }

  /// Walks down from the root, one directory at a time, and follows links itself: an absolute link
  /// starts again at the root, and `..` stops there.
  cdi::Result<Place> find(std::string_view path, Last last,
                          IfMissing missing = IfMissing::fail) const {
    Place place;
    place.way.emplace_back(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    auto rest = reversed_parts(path);
    for (int links = 0; !rest.empty();) {
      place.name = std::move(rest.back());
      rest.pop_back();
      if (place.name == "..") {
        place.leave();
        continue;
      }
      if (!place.read_status()) {
        if (errno == ENOENT && missing == IfMissing::report) {
          place.missing = std::move(rest);
          return place;
        }
        const bool made = errno == ENOENT && missing == IfMissing::make && place.make();
        if (!made || !place.read_status()) return path_error(path, errno);
      }
      if (place.is_link() && !(rest.empty() && last == Last::keep)) {
        if (++links > link_limit) return path_error(path, ELOOP);
        if (!follow(place, rest)) return path_error(path, errno);
      } else if (rest.empty()) {
        return place;
      } else if (!place.enter()) {
        return path_error(path, errno);
      }
    }
    place.name = ".";
    if (!place.read_status()) return path_error(path, errno);
    return place;
  }

 private:
  explicit RootedPaths(cdi::Descriptor root) : root_{std::move(root)} {}

  /// Fails with `ENOENT` if there is no such file. Other errors may mean that only `find` can look
  /// for it.
  cdi::Descriptor open_at_once(const std::string& path, int flags) const {
    if (path.starts_with('/') && !path.ends_with('/') && path.find('\0') == std::string::npos) {
      return open_in_root(root_.get(), path, flags);
    }
    errno = EINVAL;
    return cdi::Descriptor{-1};
  }

  /// Puts the target of a link before the rest of a path.
  static bool follow(Place& link, std::vector<std::string>& rest) {
    const auto target = read_link(link.directory(), link.name);
    if (!target) return false;
    if (target->starts_with('/')) link.leave_all();
    auto parts = reversed_parts(*target);
    std::move(parts.begin(), parts.end(), std::back_inserter(rest));
    return true;
  }

  static std::vector<std::string> reversed_parts(std::string_view path) {
    auto parts = split(path, "/");
    std::erase(parts, ".");
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

  cdi::Descriptor root_;
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_ROOTED_PATHS_HPP
