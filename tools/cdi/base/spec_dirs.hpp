// Finds the directory of a spec file, and its priority.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cdi/registry.hpp>

/// The directory of a file: `.` for a name alone.
inline std::string dir_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string{path.substr(0, slash)};
}

/// The priority of the spec directory of a file; nothing if no spec directory has the file.
inline std::optional<int> priority_of(const std::string& path, const cdi::Registry& registry) {
  const auto folder = dir_of(path);
  std::optional<int> found;
  for (const auto& dir : registry.dirs()) {
    if (dir.path == folder) found = dir.priority;
  }
  return found;
}
