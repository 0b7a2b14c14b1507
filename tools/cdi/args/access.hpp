// Checks what the calling process may open on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/plan.hpp>

#include "../base/output.hpp"

#ifdef CDI_STATIC_TOOL
// The C library would load modules for names, which must match the release it was linked with.
namespace detail {

/// The entry with a number in /etc/passwd or /etc/group; nullptr if there is none.
template <class Entry>
const Entry* find_entry(const char* file, Entry* (*next)(std::FILE*), std::uint32_t number,
                        std::uint32_t Entry::*id) {
  std::FILE* const stream = std::fopen(file, "re");
  if (stream == nullptr) return nullptr;
  const Entry* entry = next(stream);
  while (entry != nullptr && entry->*id != number) entry = next(stream);
  std::fclose(stream);
  return entry;
}

}  // namespace detail

/// The group with a number; nullptr if the host does not know it.
inline const group* find_group(std::uint32_t gid) {
  return detail::find_entry("/etc/group", ::fgetgrent, gid, &group::gr_gid);
}

/// The user with a number; nullptr if the host does not know it.
inline const passwd* find_user(std::uint32_t uid) {
  return detail::find_entry("/etc/passwd", ::fgetpwent, uid, &passwd::pw_uid);
}
#else
/// The group with a number; nullptr if the host does not know it.
inline const group* find_group(std::uint32_t gid) {
  return ::getgrgid(gid);
}

/// The user with a number; nullptr if the host does not know it.
inline const passwd* find_user(std::uint32_t uid) {
  return ::getpwuid(uid);
}
#endif

/// The name of a group, or its number.
inline std::string group_name(std::uint32_t gid) {
  const auto* const group = find_group(gid);
  return group == nullptr ? fmt::format("{}", gid) : printable(group->gr_name);
}

/// The name of a user, or its number.
inline std::string user_name(std::uint32_t uid) {
  const auto* const user = find_user(uid);
  return user == nullptr ? fmt::format("{}", uid) : printable(user->pw_name);
}

/// Whether this process has a group.
inline bool has_group(std::uint32_t gid) {
  if (gid == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return std::find(groups.begin(), groups.begin() + std::max(count, 0), gid) !=
         groups.begin() + std::max(count, 0);
}

/// How a user gets a group: by becoming a member, or as a member by a new login.
inline std::string group_advice(std::uint32_t gid) {
  if (::geteuid() == 0) return "start the program by `setpriv --groups`, with all groups";
  const auto user = user_name(::geteuid());
  const auto* const group = find_group(gid);
  if (group == nullptr) return fmt::format("make a group with the number {}", gid);
  for (auto* member = group->gr_mem; *member != nullptr; ++member) {
    if (user == *member) return fmt::format("log in again to get the group {}", group_name(gid));
  }
  return fmt::format("add the user to group {}: `usermod -aG {} {}`, then log in again",
                     group_name(gid), group_name(gid), user);
}

/// Whether this process may open a file: `permissions` are as in a device node.
inline bool may_open(const std::string& path, std::string_view permissions) {
  const bool reads = permissions.find('r') != std::string_view::npos;
  const bool writes = permissions.find('w') != std::string_view::npos;
  const int mode = (reads ? R_OK : 0) | (writes ? W_OK : 0);
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

/// Why this process may not open an existing node, and the remedy; empty if it may.
inline std::optional<cdi::Error> access_warning(const cdi::DeviceNode& node,
                                                const struct stat& there) {
  if (may_open(node.host_path, node.permissions)) return std::nullopt;
  cdi::Error warning{.code = cdi::Errc::host,
                     .message = fmt::format(
                         "this user may not open {}, whose mode is {:04o}, owner {} and group {}",
                         cdi::quoted(node.host_path), there.st_mode & 07777U,
                         user_name(there.st_uid), group_name(there.st_gid))};
  const bool writes = node.permissions.find('w') != std::string::npos;
  const mode_t wanted = writes ? S_IRGRP | S_IWGRP : S_IRGRP;
  const bool helps = (there.st_mode & wanted) == wanted && !has_group(there.st_gid);
  warning.advice =
      helps ? group_advice(there.st_gid) : "change its mode or group, by a rule of udev";
  return warning;
}
