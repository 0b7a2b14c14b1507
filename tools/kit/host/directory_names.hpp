// The names in a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>

namespace tools {

struct CloseDir {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDir>;

/// The directory of a descriptor; null if it is not a directory, with the reason in `errno`.
inline Directory directory_of(cdi::Descriptor descriptor) {
  Directory directory{descriptor ? ::fdopendir(descriptor.get()) : nullptr};
  if (directory) static_cast<void>(descriptor.release());
  return directory;
}

/// Whether an entry is the directory itself, or the one above.
inline bool is_dots(std::string_view name) {
  return name == "." || name == "..";
}

/// The type of an entry, also on file systems whose `readdir` does not report it.
inline unsigned char type_of(int directory, const dirent& entry) {
  struct stat status = {};
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

/// The sorted names in a directory, without duplicates: `readdir` may return a name twice while the
/// directory changes. If it fails, `errno` says why.
inline std::optional<std::vector<std::string>> names_in(const Directory& directory) {
  if (!directory) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  while (const auto* entry = ::readdir(directory.get())) {
    if (!is_dots(entry->d_name)) names.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tools
