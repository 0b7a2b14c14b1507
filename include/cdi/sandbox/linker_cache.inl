// The bodies of <cdi/sandbox/linker_cache.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_LINKER_CACHE_INL
#define CDI_SANDBOX_LINKER_CACHE_INL

#include <bit>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include <cdi/base/order.hpp>
#include <cdi/sandbox/linker_cache.hpp>

// A cache of the new format has these parts. Numbers have the byte order of the machine.
//   header     "glibc-ld.so.cache1.1", number of rows, size of the strings, byte order,
//              offset of the extension or 0, 12 bytes of 0: 48 bytes
//   rows       kind, SONAME, path, OS version, hardware capabilities (8 bytes): 24 bytes each
//   strings    each ends with NUL; rows have the offsets of strings from the header
//   extension  magic number, number of sections; for each section its tag, 0, its offset, its size
//
// Since version 2.33, glibc writes two sections: the name of the program that made the cache, and
// the names of glibc-hwcaps directories, as offsets of strings. The lower half of a row's hardware
// capabilities is then an index of these names.
//
// The old format has the header "ld.so-1.7.0", NUL, number of rows: 16 bytes; and rows of 12 bytes:
// kind, SONAME, path, as offsets from the end of the rows. The new format may follow these rows.
// Offsets of strings then count from the new header, but those of the extension from the beginning
// of the file. glibc 2.33 and later also write the names of directories as offsets from the new
// header, but read them from the beginning of the file, and therefore ignore these directories.

namespace cdi::inline CDI_ABI::detail {

/// The layout of the formats: sizes in bytes.
struct CacheLayout {
  static constexpr std::string_view magic = "glibc-ld.so.cache1.1";
  static constexpr std::size_t header = 48;
  static constexpr std::size_t row = 24;
  static constexpr std::string_view old_magic = "ld.so-1.7.0";
  static constexpr std::size_t old_header = 16;
  static constexpr std::size_t old_row = 12;
  static constexpr std::uint32_t extension_magic = 0xeaa42174;
  static constexpr std::size_t section = 16;
  static constexpr std::uint32_t generator_tag = 0;
  static constexpr std::uint32_t hwcaps_tag = 1;
  static constexpr unsigned char byte_order = std::endian::native == std::endian::little ? 2 : 3;
};

/// The limits of a cache that is read.
struct CacheLimits {
  static constexpr std::size_t file = std::size_t{8} << 20U;
  static constexpr std::size_t texts = std::size_t{64} << 20U;  // of added libraries
  static constexpr std::size_t soname = 255;
  static constexpr std::size_t path = 4095;
  static constexpr std::size_t generator = 256;
  static constexpr std::size_t hwcaps = 128;
};

/// A row of a cache. Offsets count from the beginning of the strings.
struct CacheRow {
  std::string_view name{};  // the SONAME
  std::uint32_t kind = 0;
  std::uint32_t soname_offset = 0;
  std::uint32_t path_offset = 0;
  std::uint32_t os_version = 0;
  std::uint64_t hwcap = 0;
  bool added = false;
};

/// The parts of a cache. Offsets count from the beginning of the strings.
struct CacheParts {
  std::vector<CacheRow> rows{};
  std::string_view strings{};
  std::size_t terminated = 0;  // the strings that begin before this offset end with NUL
  std::string_view generator{};
  std::vector<std::uint32_t> hwcaps{};  // the names of glibc-hwcaps directories
};

/// The number at an offset, which must be inside `bytes`.
template <class Number>
Number cache_number(std::string_view bytes, std::size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <class Number>
void put_number(std::string& bytes, Number number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof raw);
}

/// Takes the digits at the beginning of a name, as glibc does: a number of 32 bits that wraps.
inline std::uint32_t take_digits(std::string_view& name) {
  std::uint32_t number = 0;
  while (!name.empty() && name.front() >= '0' && name.front() <= '9') {
    number = number * 10 + static_cast<std::uint32_t>(name.front() - '0');
    name.remove_prefix(1);
  }
  return number;
}

/// Compares SONAMEs as glibc's `_dl_cache_libcmp` does: numbers count as numbers, and come after
/// all other characters. Negative if `a` is smaller, 0 if glibc does not distinguish the names.
inline int compare_sonames(std::string_view a, std::string_view b) {
  const auto is_digit = [](std::string_view name) {
    return !name.empty() && name.front() >= '0' && name.front() <= '9';
  };
  const auto first = [](std::string_view name) {
    return name.empty() ? 0 : int{name.front()};
  };
  while (!a.empty()) {
    if (is_digit(a) && is_digit(b)) {
      const auto difference = static_cast<std::int32_t>(take_digits(a) - take_digits(b));
      if (difference != 0) return difference;
    } else if (is_digit(a) || is_digit(b)) {
      return is_digit(a) ? 1 : -1;
    } else if (first(a) != first(b)) {
      return first(a) - first(b);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return first(a) - first(b);
}

/// Whether a row comes before another: SONAMEs and kinds descend.
inline bool precedes(const CacheRow& a, const CacheRow& b) {
  const int order = compare_sonames(a.name, b.name);
  return order != 0 ? order > 0 : a.kind > b.kind;
}

/// Takes the strings of a cache.
inline void set_strings(CacheParts& parts, std::string_view strings) {
  const auto last = strings.rfind('\0');
  parts.strings = strings;
  parts.terminated = last == std::string_view::npos ? 0 : last + 1;
}

/// Makes the offset of a string, which counts from `base`, count from the beginning of the strings.
/// False if no string is there.
inline bool rebase(const CacheParts& parts, std::size_t base, std::uint32_t& offset) {
  if (offset < base || offset - base >= parts.terminated) return false;
  offset -= static_cast<std::uint32_t>(base);
  return true;
}

/// Adds a row whose offsets count from `base`. False if it has no texts, or too long ones.
inline bool add_row(CacheParts& parts, std::size_t base, CacheRow row) {
  if (!rebase(parts, base, row.soname_offset) || !rebase(parts, base, row.path_offset))
    return false;
  row.name = parts.strings.substr(row.soname_offset, CacheLimits::soname + 1);
  const auto end = row.name.find('\0');
  if (end == std::string_view::npos) return false;
  row.name = row.name.substr(0, end);
  parts.rows.push_back(row);
  return true;
}

/// Reads the names of glibc-hwcaps directories, whose offsets count from `base`.
inline bool read_hwcaps(std::string_view section, std::size_t base, CacheParts& parts) {
  constexpr std::size_t size = sizeof(std::uint32_t);
  if (section.size() % size != 0 || section.size() / size > CacheLimits::hwcaps) return false;
  parts.hwcaps.clear();
  for (std::size_t at = 0; at < section.size(); at += size) {
    auto offset = cache_number<std::uint32_t>(section, at);
    if (!rebase(parts, base, offset)) return false;
    parts.hwcaps.push_back(offset);
  }
  return true;
}

/// Reads the extension at an offset of the file. Skips sections with unknown tags, which may have
/// offsets too.
inline bool read_extension(std::string_view file, std::size_t at, std::size_t base,
                           CacheParts& parts) {
  constexpr std::size_t head = 8;
  if (at == 0) return true;
  if (at % 4 != 0 || at > file.size() || file.size() - at < head) return false;
  if (cache_number<std::uint32_t>(file, at) != CacheLayout::extension_magic) return false;
  const std::size_t count = cache_number<std::uint32_t>(file, at + 4);
  if (count > (file.size() - at - head) / CacheLayout::section) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = at + head + i * CacheLayout::section;
    const auto tag = cache_number<std::uint32_t>(file, row);
    const std::size_t offset = cache_number<std::uint32_t>(file, row + 8);
    const std::size_t size = cache_number<std::uint32_t>(file, row + 12);
    if (offset > file.size() || size > file.size() - offset) return false;
    const auto section = file.substr(offset, size);
    if (tag == CacheLayout::hwcaps_tag && !read_hwcaps(section, base, parts)) return false;
    if (tag != CacheLayout::generator_tag) continue;
    if (size > CacheLimits::generator) return false;
    parts.generator = section;
  }
  return true;
}

/// Reads a cache of the new format, whose header is at an offset of the file.
inline bool read_new_cache(std::string_view file, std::size_t start, CacheParts& parts) {
  const auto table = file.substr(start);
  if (table.size() < CacheLayout::header) return false;
  const auto byte_order = static_cast<unsigned char>(table[28]);
  if (byte_order != 0 && (byte_order & 3U) != CacheLayout::byte_order) return false;
  const std::size_t rows = cache_number<std::uint32_t>(table, 20);
  if (rows > (table.size() - CacheLayout::header) / CacheLayout::row) return false;
  const auto base = CacheLayout::header + rows * CacheLayout::row;
  const std::size_t size = cache_number<std::uint32_t>(table, 24);
  if (size > table.size() - base) return false;
  set_strings(parts, table.substr(base, size));
  for (std::size_t at = CacheLayout::header; at < base; at += CacheLayout::row) {
    const bool good = add_row(parts, base,
                              {.kind = cache_number<std::uint32_t>(table, at),
                               .soname_offset = cache_number<std::uint32_t>(table, at + 4),
                               .path_offset = cache_number<std::uint32_t>(table, at + 8),
                               .os_version = cache_number<std::uint32_t>(table, at + 12),
                               .hwcap = cache_number<std::uint64_t>(table, at + 16)});
    if (!good) return false;
  }
  return read_extension(file, cache_number<std::uint32_t>(table, 32), base, parts);
}

/// Reads a cache of the old format, or of the new one behind it.
inline bool read_old_cache(std::string_view file, CacheParts& parts) {
  if (file.size() < CacheLayout::old_header) return false;
  const std::size_t rows = cache_number<std::uint32_t>(file, CacheLayout::old_header - 4);
  if (rows > (file.size() - CacheLayout::old_header) / CacheLayout::old_row) return false;
  const auto end = CacheLayout::old_header + rows * CacheLayout::old_row;
  for (const auto start : {end, (end + 7) / 8 * 8}) {  // i386 aligns to 4 bytes, others to 8
    if (start > file.size() || !file.substr(start).starts_with(CacheLayout::magic)) continue;
    return read_new_cache(file, start, parts);
  }
  set_strings(parts, file.substr(end));
  for (std::size_t at = CacheLayout::old_header; at < end; at += CacheLayout::old_row) {
    const bool good = add_row(parts, 0,
                              {.kind = cache_number<std::uint32_t>(file, at),
                               .soname_offset = cache_number<std::uint32_t>(file, at + 4),
                               .path_offset = cache_number<std::uint32_t>(file, at + 8)});
    if (!good) return false;
  }
  return true;
}

/// Reads a cache of any format. False if it is damaged.
inline bool read_cache(std::string_view file, CacheParts& parts) {
  if (file.empty()) return true;
  if (file.size() > CacheLimits::file) return false;
  if (file.starts_with(CacheLayout::magic)) return read_new_cache(file, 0, parts);
  return file.starts_with(CacheLayout::old_magic) && read_old_cache(file, parts);
}

/// Whether a library can be added.
inline bool is_addable(const LinkerEntry& entry) {
  const std::string_view name = entry.soname;
  const std::string_view path = entry.path;
  const bool named = !name.empty() && name != "." && name != ".." &&
                     name.size() <= CacheLimits::soname && name.find('/') == name.npos &&
                     name.find('\0') == name.npos;
  const bool placed =
      path.starts_with('/') && path.size() <= CacheLimits::path && path.find('\0') == path.npos;
  return named && placed && entry.kind != 0;
}

/// Sorts the rows, and removes those that an added row replaces.
inline std::vector<CacheRow> sorted_rows(const std::vector<CacheRow>& rows) {
  const auto order = detail::order_of(
      rows.size(), [&](std::size_t a, std::size_t b) { return precedes(rows[a], rows[b]); });
  std::vector<CacheRow> sorted;
  sorted.reserve(rows.size());
  bool replacing = false;  // the last row is an added one
  for (const auto i : order) {
    const auto& row = rows[i];
    if (replacing && !precedes(sorted.back(), row)) continue;
    sorted.push_back(row);
    replacing = row.added;
  }
  return sorted;
}

/// Whether sorted rows equal the rows of the old cache. `texts` are the strings of added rows.
inline bool are_old(const std::vector<CacheRow>& rows, const CacheParts& parts,
                    std::string_view texts) {
  const auto path_of = [&](const CacheRow& row) {
    const std::size_t old = parts.strings.size();
    const auto text = row.path_offset < old ? parts.strings.substr(row.path_offset)
                                            : texts.substr(row.path_offset - old);
    return text.substr(0, text.find('\0'));
  };
  if (rows.size() != parts.rows.size()) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto& old = parts.rows[i];
    if (row.name != old.name || row.kind != old.kind || row.os_version != old.os_version ||
        row.hwcap != old.hwcap || path_of(row) != path_of(old)) {
      return false;
    }
  }
  return true;
}

/// Appends the extension. `base` is the offset of the strings.
inline void put_extension(std::string& bytes, std::size_t base, const CacheParts& parts) {
  const std::size_t count = parts.hwcaps.empty() ? 1 : 2;
  const auto data = bytes.size() + 8 + count * CacheLayout::section;
  const auto hwcaps_size = parts.hwcaps.size() * sizeof(std::uint32_t);
  const auto put = [&](std::size_t number) {
    put_number(bytes, static_cast<std::uint32_t>(number));
  };
  put(CacheLayout::extension_magic);
  put(count);
  put(CacheLayout::generator_tag);
  put(0);
  put(data + hwcaps_size);
  put(parts.generator.size());
  if (!parts.hwcaps.empty()) {
    put(CacheLayout::hwcaps_tag);
    put(0);
    put(data);
    put(hwcaps_size);
  }
  for (const auto offset : parts.hwcaps) put(base + offset);
  bytes.append(parts.generator);
}

/// Writes a cache of the new format. `rows` are sorted; `texts` are the strings of added rows,
/// which follow those of `parts`.
inline std::string cache_bytes(const std::vector<CacheRow>& rows, const CacheParts& parts,
                               const std::string& texts) {
  const auto base = CacheLayout::header + rows.size() * CacheLayout::row;
  const auto size = parts.strings.size() + texts.size();
  const bool extended = !parts.generator.empty() || !parts.hwcaps.empty();
  const auto extension = (base + size + 3) / 4 * 4;
  std::string bytes{CacheLayout::magic};
  const auto put = [&](std::size_t number) {
    put_number(bytes, static_cast<std::uint32_t>(number));
  };
  put(rows.size());
  put(size);
  bytes.push_back(static_cast<char>(CacheLayout::byte_order));
  bytes.append(3, '\0');
  put(extended ? extension : 0);
  bytes.resize(CacheLayout::header);
  for (const auto& row : rows) {
    put(row.kind);
    put(base + row.soname_offset);
    put(base + row.path_offset);
    put(row.os_version);
    put_number(bytes, row.hwcap);
  }
  bytes.append(parts.strings).append(texts);
  if (!extended) return bytes;
  bytes.resize(extension);
  put_extension(bytes, base, parts);
  return bytes;
}

CDI_INLINE std::optional<std::string> merged_linker_cache(std::string_view old_cache,
                                                          std::span<const LinkerEntry> added) {
  CacheParts parts;
  constexpr std::size_t max_rows = 100'000;  // of a hostile image; real caches have thousands
  if (!read_cache(old_cache, parts) || parts.rows.size() > max_rows) return std::nullopt;
  std::vector<CacheRow> rows;
  std::string texts;
  for (const auto& entry : added) {
    if (!is_addable(entry) || texts.size() > CacheLimits::texts) return std::nullopt;
    const auto at = parts.strings.size() + texts.size();
    rows.push_back({.name = entry.soname,
                    .kind = entry.kind,
                    .soname_offset = static_cast<std::uint32_t>(at),
                    .path_offset = static_cast<std::uint32_t>(at + entry.soname.size() + 1),
                    .added = true});
    texts.append(entry.soname).push_back('\0');
    texts.append(entry.path).push_back('\0');
  }
  rows.insert(rows.end(), parts.rows.begin(), parts.rows.end());  // after the added ones, which win
  const auto sorted = sorted_rows(rows);
  const bool is_new_format = old_cache.starts_with(CacheLayout::magic);
  if (is_new_format && !added.empty() && are_old(sorted, parts, texts)) {
    return std::string{old_cache};  // repeated calls do not let it grow
  }
  return cache_bytes(sorted, parts, texts);
}

CDI_INLINE std::vector<LinkerEntry> linker_entries(std::string_view cache, std::uint32_t kind) {
  CacheParts parts;
  std::vector<LinkerEntry> entries;
  if (!read_cache(cache, parts)) return entries;
  for (const auto& row : parts.rows) {
    const auto path = parts.strings.substr(row.path_offset, CacheLimits::path + 1);
    const auto end = path.find('\0');
    if (row.kind != kind || row.name.empty() || end == 0 || end == path.npos) continue;
    entries.push_back({std::string{row.name}, std::string{path.substr(0, end)}, kind});
  }
  return entries;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_LINKER_CACHE_INL
