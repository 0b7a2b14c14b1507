// Reads and writes whole files, for benchmarks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

inline void write_in_place(const std::filesystem::path& path, std::string_view text) {
  std::ofstream{path, std::ios::binary} << text;
}

/// Replaces a file like spec writers do, but without their `fsync`.
inline void write_by_rename(const std::filesystem::path& path, std::string_view text) {
  const auto temporary = path.parent_path() / ".new";
  write_in_place(temporary, text);
  std::filesystem::rename(temporary, path);
}
