// An ld.so.cache as ldconfig writes it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct CachedLibrary {
  std::uint32_t kind = 0;  // such as 0x0303, a library of x86-64
  std::string soname{};
  std::string path{};
};

inline void append_number(std::string& bytes, std::uint32_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// A cache of the new format, with one row for each library.
inline std::string ld_cache_bytes(const std::vector<CachedLibrary>& libraries) {
  std::string strings;
  const auto first = static_cast<std::uint32_t>(48 + 24 * libraries.size());
  const auto place = [&](const std::string& text) {
    const auto at = first + static_cast<std::uint32_t>(strings.size());
    strings.append(text).append(1, '\0');
    return at;
  };
  std::string rows;
  for (const auto& library : libraries) {
    append_number(rows, library.kind);
    append_number(rows, place(library.soname));
    append_number(rows, place(library.path));
    rows.append(12, '\0');  // release of the kernel, capabilities of the processor
  }
  std::string cache{"glibc-ld.so.cache1.1"};
  append_number(cache, static_cast<std::uint32_t>(libraries.size()));
  append_number(cache, static_cast<std::uint32_t>(strings.size()));
  cache.append(20, '\0');
  return cache + rows + strings;
}
