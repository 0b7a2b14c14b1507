// Parses /etc/ld.so.cache.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_HOST_LD_CACHE_HPP
#define CDI_TOOLS_GPU_HOST_LD_CACHE_HPP

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// glibc's dynamic linker uses it to find libraries. It consists of a header, rows and strings:
//   header  "glibc-ld.so.cache1.1", number of rows, and values not used here: 48 bytes
//   row     kind of library, SONAME, path, and values not used here: 24 bytes
//
// Older releases of glibc write a table for libc5 before it.

namespace prepare {

/// The flags of this machine's libraries: 64-bit ELF for glibc. 0 on other machines, for which no
/// libraries are listed.
inline constexpr std::uint32_t native_library =
#if defined(__x86_64__) && defined(__LP64__)
    0x0303;
#elif defined(__aarch64__) && defined(__LP64__)
    0x0a03;
#else
    0;
#endif

/// An entry of ld.so.cache; its texts point into the parsed text.
struct LdCacheEntry {
  std::string_view soname{};  // "libcuda.so.1"
  std::string_view path{};    // "/usr/lib/x86_64-linux-gnu/libcuda.so.1", which may be a link
};

namespace ld_cache {

inline constexpr std::string_view magic = "glibc-ld.so.cache1.1";
inline constexpr std::string_view old_magic = "ld.so-1.7.0";
inline constexpr std::size_t header_size = 48;
inline constexpr std::size_t row_size = 24;
inline constexpr std::size_t old_header_size = 16;
inline constexpr std::size_t old_row_size = 12;

/// The number at an offset, which must be inside `bytes`, in the byte order of this machine.
inline std::uint32_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

/// The string at an offset; empty if it has no end or is too long for a path.
inline std::string_view string_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return {};
  const auto rest = bytes.substr(offset, PATH_MAX);
  const auto end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

/// The cache without the table for libc5, if there is one. Offsets are relative to its start.
inline std::string_view without_old_table(std::string_view cache) {
  if (!cache.starts_with(old_magic) || cache.size() < old_header_size) return cache;
  const std::size_t rows = number_at(cache, old_header_size - sizeof(std::uint32_t));
  const auto end = old_header_size + rows * old_row_size;
  const auto aligned = (end + 7) / 8 * 8;
  return cache.substr(std::min(aligned, cache.size()));
}

}  // namespace ld_cache

/// The libraries of one kind in the text of an ld.so.cache, in the same order. From a damaged
/// cache, the readable entries.
inline std::vector<LdCacheEntry> parse_ld_cache(std::string_view cache,
                                                std::uint32_t kind = native_library) {
  const auto table = ld_cache::without_old_table(cache);
  if (!table.starts_with(ld_cache::magic) || table.size() < ld_cache::header_size) return {};
  const std::size_t there = (table.size() - ld_cache::header_size) / ld_cache::row_size;
  const auto rows =
      std::min<std::size_t>(ld_cache::number_at(table, ld_cache::magic.size()), there);
  std::vector<LdCacheEntry> entries;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = table.substr(ld_cache::header_size + i * ld_cache::row_size);
    if (ld_cache::number_at(row, 0) != kind) continue;
    const LdCacheEntry entry{.soname = ld_cache::string_at(table, ld_cache::number_at(row, 4)),
                             .path = ld_cache::string_at(table, ld_cache::number_at(row, 8))};
    if (!entry.soname.empty() && !entry.path.empty()) entries.push_back(entry);
  }
  return entries;
}

/// A cache with only those libraries of a kind whose SONAME `is_wanted`.
inline std::string reduced_ld_cache(std::string_view cache, bool (*is_wanted)(std::string_view),
                                    std::uint32_t kind = native_library) {
  const auto entries = parse_ld_cache(cache, kind);
  std::string rows;
  std::string strings;
  std::uint32_t count = 0;
  const auto bytes_of = [](std::uint32_t number) {
    std::string out(sizeof number, '\0');
    std::memcpy(out.data(), &number, sizeof number);
    return out;
  };
  const auto wanted = static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const LdCacheEntry& entry) { return is_wanted(entry.soname); }));
  const auto begin = ld_cache::header_size + wanted * ld_cache::row_size;
  const auto add_string = [&](std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(begin + strings.size());
    strings.append(text).append(1, '\0');
    return bytes_of(offset);
  };
  for (const auto& entry : entries) {
    if (!is_wanted(entry.soname)) continue;
    rows += bytes_of(kind);
    rows += add_string(entry.soname);
    rows += add_string(entry.path);
    rows.append(ld_cache::row_size - 3 * sizeof count, '\0');
    ++count;
  }
  std::string header{ld_cache::magic};
  header += bytes_of(count) + bytes_of(static_cast<std::uint32_t>(strings.size()));
  header.resize(ld_cache::header_size, '\0');
  return header + rows + strings;
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_HOST_LD_CACHE_HPP
