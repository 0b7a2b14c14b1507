// Resolves paths under a directory as if it were /.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "rooted_paths.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "../base/text.hpp"

namespace tools {

namespace {

/// `struct open_how` of openat2(2), which some C libraries lack.
struct OpenHow {
  std::uint64_t flags = 0;
  std::uint64_t mode = 0;
  std::uint64_t resolve = 0;
};

/// Opens a path as if `root` were /, by openat2(2). Follows no magic links of /proc. If it fails,
/// `errno` says why: `ENOSYS` before Linux 5.6, `EPERM` also for a seccomp filter, and `EAGAIN`
/// while another process renames directories.
cdi::Descriptor open_in_root(int root, const std::string& path, int flags) {
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

}  // namespace

std::optional<std::string> read_link(int directory, const std::string& name) {
  char target[PATH_MAX];
  const auto size = ::readlinkat(directory, name.c_str(), target, sizeof target);
  if (size < 0) return std::nullopt;
  return std::string{target, static_cast<std::size_t>(size)};
}

cdi::Error path_error(std::string_view path, int number, std::string_view reason) {
  std::string message{path};
  message.append(": ");
  message.append(reason.empty() ? std::generic_category().message(number) : std::string{reason});
  return {.code = cdi::Errc::system, .message = std::move(message), .system = number};
}

std::string Place::path() const {
  std::string text;
  for (const auto& part : names) text.append("/").append(part);
  if (name != ".") text.append("/").append(name);
  for (auto part = missing.rbegin(); part != missing.rend(); ++part) {
    text.append("/").append(*part);
  }
  return text.empty() ? "/" : text;
}

bool Place::read_status() {
  return ::fstatat(directory(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

cdi::Descriptor Place::open(int flags) const {
  return cdi::Descriptor{::openat(directory(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)};
}

bool Place::enter() {
  names.push_back(name);
  way.push_back(open(O_PATH | O_DIRECTORY));
  return static_cast<bool>(way.back());
}

void Place::leave() {
  if (names.empty()) return;
  way.pop_back();
  names.pop_back();
}

void Place::leave_all() {
  way.erase(way.begin() + 1, way.end());
  names.clear();
}

cdi::Result<RootedPaths> RootedPaths::open(const std::string& root) {
  cdi::Descriptor descriptor{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!descriptor) return path_error(root, errno);
  return RootedPaths{std::move(descriptor)};
}

cdi::Result<struct stat> RootedPaths::status(const std::string& path, Last last) const {
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

cdi::Descriptor RootedPaths::open_file(const std::string& path, int flags) const {
  auto file = open_at_once(path, flags);
  if (file || errno == ENOENT) return file;
  const auto place = find(path, Last::follow);
  if (place) return place->open(flags);
  errno = place.error().system;
  return cdi::Descriptor{-1};
}

cdi::Result<Place> RootedPaths::find(std::string_view path, Last last, IfMissing missing) const {
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

cdi::Descriptor RootedPaths::open_at_once(const std::string& path, int flags) const {
  if (path.starts_with('/') && !path.ends_with('/') && path.find('\0') == std::string::npos) {
    return open_in_root(root_.get(), path, flags);
  }
  errno = EINVAL;
  return cdi::Descriptor{-1};
}

bool RootedPaths::follow(Place& link, std::vector<std::string>& rest) {
  const auto target = read_link(link.directory(), link.name);
  if (!target) return false;
  if (target->starts_with('/')) link.leave_all();
  auto parts = reversed_parts(*target);
  std::move(parts.begin(), parts.end(), std::back_inserter(rest));
  return true;
}

std::vector<std::string> RootedPaths::reversed_parts(std::string_view path) {
  auto parts = split(path, "/");
  std::erase(parts, ".");
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace tools
