// Makes device nodes on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../../kit/host/rooted_paths.hpp"

namespace prepare {

namespace detail {

/// Makes a character device with its mode, whatever the umask is.
inline bool make_with_mode(int directory, const std::string& name, mode_t mode, dev_t number) {
  // A later `chmod` would follow a link that the owner of the directory puts in the node's place.
  const auto mask = ::umask(0);
  const bool made = ::mknodat(directory, name.c_str(), S_IFCHR | (mode & 0777U), number) == 0;
  const int failed = errno;
  ::umask(mask);
  errno = failed;
  return made;
}

/// Gives a new node its owner. An error if another file has replaced it by now.
inline cdi::Result<void> give_to_owner(int directory, const std::string& name, dev_t number,
                                       const tools::HostNode& node) {
  const cdi::Descriptor file{::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) return tools::path_error(node.path, errno);
  if (!S_ISCHR(status.st_mode) || status.st_rdev != number) {
    return tools::path_error(node.path, EBUSY, "another program has just replaced it");
  }
  if (::fchownat(file.get(), "", node.uid, node.gid, AT_EMPTY_PATH) == 0) return {};
  const int failed = errno;
  ::unlinkat(directory, name.c_str(), 0);
  return tools::path_error(node.path, failed);
}

}  // namespace detail

/// Makes a character device below a root, with its directory. Never replaces a file.
inline cdi::Result<void> make_node(const std::string& root, const tools::HostNode& node) {
  const auto paths = tools::RootedPaths::open(root);
  if (!paths) return paths.error();
  const auto slash = node.path.rfind('/');
  const auto name = node.path.substr(slash + 1);
  const auto place = paths->find(node.path.substr(0, slash), tools::RootedPaths::Last::follow,
                                 tools::RootedPaths::IfMissing::make);
  if (!place) return place.error();
  const auto directory = place->open(O_PATH | O_DIRECTORY);
  if (!directory) return tools::path_error(node.path, errno);
  const auto number =
      gnu_dev_makedev(static_cast<unsigned>(node.major), static_cast<unsigned>(node.minor));
  const int fd = directory.get();
  if (!detail::make_with_mode(fd, name, node.mode, number)) {
    return tools::path_error(node.path, errno);
  }
  return detail::give_to_owner(fd, name, number, node);
}

/// Makes the link in /dev/char that udev makes for other nodes, if that directory exists and has no
/// such name: without it, runc with systemd's cgroups loses the node on a reload.
inline void make_char_link(const std::string& root, const tools::HostNode& node) {
  const auto paths = tools::RootedPaths::open(root);
  if (!paths || !node.path.starts_with("/dev/")) return;
  const auto place = paths->find("/dev/char", tools::RootedPaths::Last::follow);
  if (!place) return;
  const auto directory = place->open(O_PATH | O_DIRECTORY);
  const auto target = fmt::format("../{}", std::string_view{node.path}.substr(5));
  const auto name = fmt::format("{}:{}", node.major, node.minor);
  static_cast<void>(::symlinkat(target.c_str(), directory.get(), name.c_str()));
}

}  // namespace prepare
