// Makes device nodes on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_HOST_MAKE_NODE_HPP
#define CDI_TOOLS_PREPARE_HOST_MAKE_NODE_HPP

#include <cerrno>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../shared/host/host_tree.hpp"
#include "../../shared/host/rooted_paths.hpp"

namespace prepare {

/// The mode with which a new node begins: nobody but root can open it until it has its owner.
inline constexpr mode_t closed = S_IFCHR;

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
  if (::mknodat(fd, name.c_str(), closed, number) != 0) return tools::path_error(node.path, errno);
  const bool has_rights =
      ::fchownat(fd, name.c_str(), node.uid, node.gid, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::fchmodat(fd, name.c_str(), node.mode, 0) == 0;
  if (has_rights) return {};
  const int failed = errno;
  ::unlinkat(fd, name.c_str(), 0);
  return tools::path_error(node.path, failed);
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

#endif  // CDI_TOOLS_PREPARE_HOST_MAKE_NODE_HPP
