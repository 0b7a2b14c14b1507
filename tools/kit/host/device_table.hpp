// Device nodes, and a table that replaces them in a tree without nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../base/text.hpp"
#include "rooted_paths.hpp"

// Only root can make device nodes. A tree made by another user has empty files instead, and a file
// `dev.tab` with a row for each node: `PATH TYPE MAJOR MINOR OCTALMODE UID GID`.

namespace tools {

/// A device node of a host, as `stat` shows it.
struct HostNode {
  std::string path{};
  char type = 'c';  // 'c' or 'b'
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::uint32_t mode = 0;  // permission bits
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string host_path{};  // if it differs from `path`, the path in containers

  /// The path on the host.
  const std::string& place() const { return host_path.empty() ? path : host_path; }
};

/// A node with the `stat` of a device.
inline HostNode node_of(const std::string& path, const struct stat& status) {
  return {.path = path,
          .type = S_ISCHR(status.st_mode) ? 'c' : 'b',
          .major = gnu_dev_major(status.st_rdev),
          .minor = gnu_dev_minor(status.st_rdev),
          .mode = status.st_mode & 0777,
          .uid = status.st_uid,
          .gid = status.st_gid};
}

/// Whether the permission bits of a node let this process read it, or read and write it.
inline bool permits(const HostNode& node, bool write) {
  if (::geteuid() == 0) return true;
  const auto shift = node.uid == ::geteuid() ? 6U : node.gid == ::getegid() ? 3U : 0U;
  const std::uint32_t wanted = write ? 06 : 04;
  return (node.mode >> shift & wanted) == wanted;
}

/// The nodes of a tree, by path.
using DeviceTable = std::map<std::string, HostNode, std::less<>>;

namespace detail {

inline std::optional<HostNode> parse_device_row(std::string_view row) {
  const auto part = split(row, " \t\r");
  if (part.size() != 7 || (part[1] != "c" && part[1] != "b")) return std::nullopt;
  const auto major = parse_number<std::uint32_t>(part[2]);
  const auto minor = parse_number<std::uint32_t>(part[3]);
  const auto mode = parse_number<std::uint32_t>(part[4], 8);
  const auto uid = parse_number<std::uint32_t>(part[5]);
  const auto gid = parse_number<std::uint32_t>(part[6]);
  if (!major || !minor || !mode || !uid || !gid) return std::nullopt;
  return HostNode{.path = part[0],
                  .type = part[1].front(),
                  .major = *major,
                  .minor = *minor,
                  .mode = *mode & 0777,
                  .uid = *uid,
                  .gid = *gid};
}

}  // namespace detail

/// Parses the text of a device table; empty lines and comments are ignored.
inline cdi::Result<DeviceTable> parse_device_table(std::string_view text) {
  DeviceTable table;
  for (const auto& row : split(text, "\n")) {
    if (trim(row).empty() || trim(row).front() == '#') continue;
    auto node = detail::parse_device_row(row);
    if (!node) return path_error("/dev.tab", EINVAL, "not a row of a device table: " + row);
    table.insert_or_assign(node->path, *node);
  }
  return table;
}

/// The row of a node. Its path may not have white space.
inline std::string device_row(const HostNode& node) {
  return fmt::format("{} {} {} {} {:04o} {} {}\n", node.path, node.type, node.major, node.minor,
                     node.mode, node.uid, node.gid);
}

}  // namespace tools
