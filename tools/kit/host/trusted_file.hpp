// Checks files that decide what root hands out or runs: settings, policies, vendor files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

#include <cdi/base/shell_word.hpp>
#include <cdi/files/access.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>
#include <cdi/text/limits.hpp>

#include "../base/text.hpp"

namespace tools {

namespace detail {

/// Whether an owner may be root outside this user namespace, whose files seem to belong to nobody
/// here. A runtime of rootless podman sees /etc this way. Such a file has no other known owner.
inline bool may_be_root_outside(uid_t owner) {
  constexpr uid_t nobody = 65534;
  if (owner != nobody) return false;
  const auto map = cdi::read_file("/proc/self/uid_map");
  if (!map) return false;
  const auto words = split(*map, " \n");
  constexpr std::array<std::string_view, 3> all{"0", "0", "4294967295"};
  return !std::equal(words.begin(), words.end(), all.begin(), all.end());
}

/// Whether only its owner is in the group of a file: Debian and others give each user a group with
/// the same number, which may write to the user's files (the umask is 002).
inline bool has_private_group(const struct stat& info) {
  return info.st_uid != 0 && info.st_uid == info.st_gid;
}

}  // namespace detail

/// Fails with `Errc::denied`, and says what to do, if another user may write to a file.
inline cdi::Result<void> check_trusted(const std::string& path, struct stat info) {
  if (detail::has_private_group(info)) info.st_mode &= ~mode_t{S_IWGRP};
  if (detail::may_be_root_outside(info.st_uid)) info.st_uid = 0;
  auto good = cdi::check_writers(path, info);
  if (good) return good;
  const auto word = cdi::shell_word(path);
  auto& advice = good.error().advice;
  advice = "check the file, then: `";
  if (cdi::is_foreign(info)) advice += "chown root " + word + "; ";
  advice += "chmod go-w " + word + "`";
  return good;
}

/// Reads a file that only root and the user of this process may write.
inline cdi::Result<std::string> read_trusted_file(const std::string& path,
                                                  std::size_t limit = cdi::Limits{}.bytes) {
  auto file = cdi::read_file_at(AT_FDCWD, path, path, limit);
  if (!file) return std::move(file).error();
  struct stat info = {};
  info.st_mode = static_cast<mode_t>(file->signature.mode);
  info.st_uid = file->owner;
  info.st_gid = file->group;
  if (auto good = check_trusted(path, info); !good) return std::move(good).error();
  return std::move(file->text);
}

}  // namespace tools
