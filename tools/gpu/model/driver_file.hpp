// The files of a GPU driver for containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/model/fields.hpp>

#include "profile.hpp"

namespace prepare {

/// A file of a driver that containers get in addition to the nodes.
struct DriverFile {
  enum class Kind : std::uint8_t { library, program, firmware, configuration, socket };

  Kind kind = Kind::library;
  std::string host_path{};           // under the root; without links
  std::string container_path{};      // where programs look for it
  std::vector<std::string> links{};  // more such paths: its SONAME, "libcuda.so"
  Profiles profiles = all_profiles;  // that need the file

  /// The members in the result of `cdi-prepare detect`.
  static constexpr void fields(auto& list) {
    list("path", &DriverFile::host_path, cdi::required);
    list("containerPath", &DriverFile::container_path, cdi::required);
    list("links", &DriverFile::links, cdi::required);
  }
};

/// The names of kinds, in the order of `DriverFile::Kind`.
inline constexpr std::array<std::string_view, 5> file_kinds{"library", "program", "firmware",
                                                            "configuration", "socket"};

/// The directory of a file in the container.
inline std::string directory_of(const DriverFile& file) {
  return file.container_path.substr(0, file.container_path.rfind('/'));
}

/// Files of a driver by their real path.
using FilesByPath = std::map<std::string, DriverFile>;

/// Adds a file, which keeps its real path in containers, or adds `path` as a link to it.
inline void add_at_real_path(FilesByPath& files, DriverFile::Kind kind,
                             const std::string& real_path, const std::string& path,
                             Profiles profiles = all_profiles) {
  auto& file = files[real_path];
  file.kind = kind;
  file.host_path = real_path;
  file.container_path = real_path;
  file.profiles = profiles;
  if (path != real_path) file.links.push_back(path);
}

/// The files of a map, sorted by path.
inline std::vector<DriverFile> sorted_files(FilesByPath found) {
  std::vector<DriverFile> files;
  for (auto& [path, file] : found) {
    std::sort(file.links.begin(), file.links.end());
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace prepare
