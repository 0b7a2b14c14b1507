// Mount options that a program writes, and options that it loses.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <cdi/plan.hpp>
#include <cdi/rules/mount_options.hpp>

#include "access.hpp"
#include "program.hpp"

/// Whether a list contains an option.
inline bool has_option(const cdi::Mount& mount, std::string_view option) {
  return std::find(mount.options.begin(), mount.options.end(), option) != mount.options.end();
}

inline bool is_listed(std::string_view list, std::string_view option) {
  if (list == "*") return true;
  for (;;) {
    const auto end = list.find(',');
    if (list.substr(0, end) == option) return true;
    if (end == list.npos) return false;
    list.remove_prefix(end + 1);
  }
}

/// Whether an option is what every program does by default.
inline bool is_usual_option(std::string_view option) {
  constexpr std::array<std::string_view, 11> usual{"bind",     "rbind",    "rw",   "private",
                                                   "rprivate", "exec",     "suid", "dev",
                                                   "relatime", "defaults", "async"};
  return std::find(usual.begin(), usual.end(), option) != usual.end();
}

/// Whether an option matters for an existing source. `nosuid` and `nodev` do not matter for a file
/// that is not a node and has no set-user-ID bit, nor `ro` for a file that the caller may not
/// write. On a read-only mount, Linux still opens nodes and FIFOs and connects to sockets for
/// writing; it executes none of them.
inline bool matters(std::string_view option, const std::string& source, const struct stat& there,
                    const Program& program) {
  if (S_ISDIR(there.st_mode)) return true;
  const bool is_node = S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode);
  const bool is_file = S_ISREG(there.st_mode);
  if (option == "nodev") return is_node;
  if (option == "nosuid") return is_file && (there.st_mode & (S_ISUID | S_ISGID)) != 0;
  if (option == "noexec") return is_file && (there.st_mode & 0111) != 0;
  if (option != "ro" && option != "rro") return true;
  return is_file && (!program.opens_as_user || may_open(source, "w"));
}

/// Whether a path of the host is a node, or a directory with one.
inline bool shows_nodes(const std::string& path, const struct stat& there) {
  const auto is_node = [](const struct stat& info) {
    return S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode);
  };
  if (!S_ISDIR(there.st_mode)) return is_node(there);
  std::error_code fault;
  constexpr auto pass = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at{path, pass, fault}, end;
       !fault && at != end; at.increment(fault)) {
    struct stat info = {};
    if (::lstat(at->path().c_str(), &info) == 0 && is_node(info)) return true;
  }
  return false;
}

/// The rule of a device cgroup that lets a node be opened and made.
inline std::string device_rule(const struct stat& node) {
  return fmt::format("{} {}:{} rwm", S_ISBLK(node.st_mode) ? 'b' : 'c', gnu_dev_major(node.st_rdev),
                     gnu_dev_minor(node.st_rdev));
}

/// The options of a mount that a program writes, except `bind` and `rbind`.
inline std::string written_options(const cdi::Mount& mount, const Program& program) {
  const bool read_only = cdi::detail::is_read_only(mount.options);
  std::string out = read_only && is_listed(program.keeps, "ro") ? "ro" : "";
  for (const auto& option : mount.options) {
    if (is_usual_option(option) || option == "ro" || !is_listed(program.keeps, option)) continue;
    out.append(out.empty() ? "" : ",").append(option);
  }
  return out;
}

/// The options of a mount that a program loses. Without `ro`, which has its own form.
inline std::vector<std::string> lost_options(const cdi::Mount& mount, const struct stat& there,
                                             const Program& program) {
  std::vector<std::string> out;
  // If `ro` has no form of its own, it is lost unless a later option reverses it.
  const bool has_form = program.read_only[0] || !cdi::detail::is_read_only(mount.options);
  for (const auto& option : mount.options) {
    const bool kept = is_usual_option(option) || is_listed(program.keeps, option) ||
                      is_listed(program.implies, option) || (option == "ro" && has_form);
    if (!kept && matters(option, mount.host_path, there, program)) out.push_back(option);
  }
  return out;
}
