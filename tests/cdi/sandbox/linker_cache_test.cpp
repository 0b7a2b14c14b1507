// Tests for include/cdi/sandbox/linker_cache.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/sandbox/linker_cache.hpp>

namespace {

using cdi::detail::linker_entries;
using cdi::detail::LinkerEntry;
using cdi::detail::merged_linker_cache;
using Entries = std::vector<LinkerEntry>;

constexpr std::uint32_t x86_64 = 0x0303;
constexpr std::uint32_t i386 = 0x0003;

/// A library in a cache that a test writes.
struct CachedLibrary {
  std::string soname;
  std::string path;
  std::uint32_t kind = x86_64;
  std::uint64_t hwcap = 0;
};

/// The hardware capabilities of a library in the glibc-hwcaps directory of an index.
constexpr std::uint64_t in_hwcaps(std::uint64_t index) {
  return std::uint64_t{1} << 62U | index;
}

template <class Number>
void put_raw(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_u32(std::string& bytes, std::size_t number) {
  put_raw(bytes, static_cast<std::uint32_t>(number));
}

void set_u32(std::string& bytes, std::size_t offset, std::size_t number) {
  std::string raw;
  put_u32(raw, number);
  bytes.replace(offset, raw.size(), raw);
}

std::uint32_t u32_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  REQUIRE(offset + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

/// A cache of the new format, as glibc 2.33 and later write it. It begins `before` bytes after the
/// beginning of the file.
std::string new_cache(const std::vector<CachedLibrary>& libraries,
                      const std::vector<std::string>& hwcaps = {}, std::size_t before = 0) {
  const auto base = 48 + 24 * libraries.size();
  std::string rows;
  std::string texts;
  std::string names;
  const auto put_text = [&](std::string& to, const std::string& text) {
    put_u32(to, base + texts.size());
    texts.append(text).push_back('\0');
  };
  for (const auto& name : hwcaps) put_text(names, name);
  for (const auto& library : libraries) {
    put_u32(rows, library.kind);
    put_text(rows, library.soname);
    put_text(rows, library.path);
    put_u32(rows, 7);  // the OS version
    put_raw(rows, library.hwcap);
  }
  const auto extension = (base + texts.size() + 3) / 4 * 4;
  std::string cache = "glibc-ld.so.cache1.1";
  put_u32(cache, libraries.size());
  put_u32(cache, texts.size());
  cache.push_back(std::endian::native == std::endian::little ? 2 : 3);
  cache.append(3, '\0');
  put_u32(cache, hwcaps.empty() ? 0 : before + extension);
  cache.resize(48);
  cache.append(rows).append(texts);
  if (hwcaps.empty()) return cache;
  cache.resize(extension);
  const auto data = before + extension + 40;
  for (const std::size_t number :
       {std::size_t{0xeaa42174}, std::size_t{2}, std::size_t{0}, std::size_t{0},
        data + names.size(), std::size_t{4}, std::size_t{1}, std::size_t{0}, data, names.size()}) {
    put_u32(cache, number);
  }
  return cache.append(names).append("made");
}

/// A cache of the old format, perhaps with the new format behind it.
std::string old_cache(const std::vector<CachedLibrary>& libraries) {
  std::string cache{"ld.so-1.7.0\0", 12};
  std::string texts;
  put_u32(cache, libraries.size());
  for (const auto& library : libraries) {
    put_u32(cache, library.kind);
    for (const auto* text : {&library.soname, &library.path}) {
      put_u32(cache, texts.size());
      texts.append(*text).push_back('\0');
    }
  }
  return cache.append(texts);
}

std::string text_at(std::string_view cache, std::size_t offset) {
  REQUIRE(offset < cache.size());
  const auto rest = cache.substr(offset);
  REQUIRE(rest.find('\0') != std::string_view::npos);
  return std::string{rest.substr(0, rest.find('\0'))};
}

/// The name of a glibc-hwcaps directory, found through the extension.
std::string hwcaps_name(std::string_view cache, std::size_t index) {
  const auto extension = u32_at(cache, 32);
  CHECK(extension % 4 == 0);
  CHECK(u32_at(cache, extension) == 0xeaa42174);
  for (std::size_t i = 0; i < u32_at(cache, extension + 4); ++i) {
    const auto section = extension + 8 + 16 * i;
    if (u32_at(cache, section) != 1) continue;
    REQUIRE(4 * index < u32_at(cache, section + 12));
    return text_at(cache, u32_at(cache, u32_at(cache, section + 8) + 4 * index));
  }
  return "missing";
}

/// The libraries of a merged cache, one a line.
std::string shown(const std::optional<std::string>& cache) {
  if (!cache) return "none";
  CHECK(cache->starts_with("glibc-ld.so.cache1.1"));
  std::string lines;
  for (std::size_t i = 0; i < u32_at(*cache, 20); ++i) {
    const auto row = 48 + 24 * i;
    std::uint64_t hwcap = 0;
    std::memcpy(&hwcap, cache->data() + row + 16, sizeof hwcap);
    lines += text_at(*cache, u32_at(*cache, row + 4)) + ' ';
    lines += std::to_string(u32_at(*cache, row)) + ' ' + text_at(*cache, u32_at(*cache, row + 8));
    if (u32_at(*cache, row + 12) != 0) lines += " os " + std::to_string(u32_at(*cache, row + 12));
    const auto index = static_cast<std::uint32_t>(hwcap);
    if (hwcap >> 62U == 1) {
      lines += " in " + hwcaps_name(*cache, index);
    } else if (hwcap != 0) {
      lines += " hwcap " + std::to_string(hwcap);
    }
    lines += '\n';
  }
  return lines;
}

std::string merged(std::string_view cache, const Entries& added) {
  return shown(merged_linker_cache(cache, added));
}

}  // namespace

TEST_CASE("A new cache has a header, sorted rows and texts") {
  const auto cache = merged_linker_cache(
      "", Entries{{"liba.so.1", "/a/liba.so.1", x86_64}, {"libb.so", "/b", i386}});
  REQUIRE(cache.has_value());
  CHECK(shown(cache) == "libb.so 3 /b\nliba.so.1 771 /a/liba.so.1\n");
  CHECK(cache->size() == 48 + 2 * 24 + 23 + 11);
  CHECK(u32_at(*cache, 24) == 34);
  CHECK((*cache)[28] == (std::endian::native == std::endian::little ? 2 : 3));
  CHECK(cache->substr(29, 19) == std::string(19, '\0'));
  CHECK(merged_linker_cache("", Entries{}) == new_cache({}));
}

TEST_CASE("Rows descend as in glibc: numbers are numbers, and come after other characters") {
  Entries added;
  for (const char* name :
       {"liba.so", "liba.so.2", "liba.so.10", "liba1.so", "liba-1.so", "liba.so.1.2", "libA.so",
        "liba10.so", "liba.so.1", "liba2.so", "liba~.so"}) {
    added.push_back({name, "/x", x86_64});
  }
  added.push_back({"liba.so", "/x", i386});
  added.push_back({"liba.so", "/x", 0x0803});
  CHECK(merged("", added) ==
        "liba10.so 771 /x\nliba2.so 771 /x\nliba1.so 771 /x\nliba~.so 771 /x\n"
        "liba.so.10 771 /x\nliba.so.2 771 /x\nliba.so.1.2 771 /x\nliba.so.1 771 /x\n"
        "liba.so 2051 /x\nliba.so 771 /x\nliba.so 3 /x\nliba-1.so 771 /x\nlibA.so 771 /x\n");
}

TEST_CASE("Numbers of any length have an order") {
  const std::string many(200, '9');
  const auto names =
      merged("", {{"a." + many, "/x", 3}, {"a.4294967297", "/x", 3}, {"a.2", "/x", 3}});
  CHECK(names.starts_with("a.2 "));  // 4294967297 wraps to 1, as in glibc
}

TEST_CASE("An added library replaces libraries of its SONAME and kind") {
  const auto old = new_cache({{"libc.so", "/v3/libc.so", x86_64, in_hwcaps(1)},
                              {"libc.so", "/v2/libc.so", x86_64, in_hwcaps(0)},
                              {"libc.so", "/tls/libc.so", x86_64, 1},
                              {"libc.so", "/libc.so", x86_64},
                              {"libc.so", "/32/libc.so", i386},
                              {"libb.so.1", "/libb.so.1"},
                              {"liba.so", "/v2/liba.so", x86_64, in_hwcaps(0)},
                              {"liba.so", "/liba.so"},
                              {"liba.so", "/usr/liba.so"}},
                             {"x86-64-v2", "x86-64-v3"});
  const std::string rest =
      "libb.so.1 771 /libb.so.1 os 7\nliba.so 771 /v2/liba.so os 7 in x86-64-v2\n"
      "liba.so 771 /liba.so os 7\nliba.so 771 /usr/liba.so os 7\n";
  CHECK(merged(old, {}) ==
        "libc.so 771 /v3/libc.so os 7 in x86-64-v3\nlibc.so 771 /v2/libc.so os 7 in x86-64-v2\n"
        "libc.so 771 /tls/libc.so os 7 hwcap 1\nlibc.so 771 /libc.so os 7\n"
        "libc.so 3 /32/libc.so os 7\n" +
            rest);
  CHECK(merged(old, {{"libc.so", "/new", x86_64}, {"libc.so", "/newer", x86_64}}) ==
        "libc.so 771 /new\nlibc.so 3 /32/libc.so os 7\n" + rest);
  CHECK(merged(old, {{"libd.so", "/new", i386}, {"libc.so", "/new", 0x0803}}) ==
        "libd.so 3 /new\nlibc.so 2051 /new\n" + merged(old, {}));
  CHECK(merged(old, {{"libb.so.01", "/new", x86_64}}).find("/libb.so.1") == std::string::npos);
}

TEST_CASE("A merged cache stays as it is, and keeps who made it") {
  const auto old = new_cache({{"b", "/b", x86_64, in_hwcaps(0)}, {"a", "/a"}}, {"v2"});
  CHECK(merged_linker_cache(old, Entries{}) == old);
  const auto once = merged_linker_cache(old, Entries{{"c", "/c", x86_64}});
  REQUIRE(once.has_value());
  CHECK(once->ends_with("made"));
  CHECK(merged_linker_cache(*once, Entries{}) == once);
}

TEST_CASE("The old format is read, alone or in front of the new one") {
  const std::vector<CachedLibrary> two{{"b", "/b"}, {"a", "/a", i386}};
  CHECK(merged(old_cache(two), {{"c", "/c", 5}}) == "c 5 /c\nb 771 /b\na 3 /a\n");
  CHECK(merged(old_cache({}), {}).empty());
  for (const auto& old : {two, {{"a", "/a"}}}) {
    const auto front = old_cache(old);
    const auto end = 16 + 12 * old.size();
    for (const std::size_t pad :
         {std::size_t{0}, (8 - end % 8) % 8}) {  // as on i386, and elsewhere
      const auto before = end + pad;
      const auto cache = front.substr(0, end) + std::string(pad, '\0') +
                         new_cache({{"d", "/v2/d", x86_64, in_hwcaps(0)}}, {"v2"}, before);
      CHECK(merged(cache, {{"c", "/c", 5}}) == "d 771 /v2/d os 7 in v2\nc 5 /c\n");
    }
  }
}

TEST_CASE("Caches of the other byte order are not usable") {
  auto cache = new_cache({{"a", "/a"}});
  const char good = cache[28];
  for (const char order : {'\0', good, static_cast<char>(good + 4)}) {
    cache[28] = order;
    CHECK(merged_linker_cache(cache, Entries{}).has_value());
  }
  for (const char order : {'\1', static_cast<char>(good ^ 1)}) {
    cache[28] = order;
    CHECK_FALSE(merged_linker_cache(cache, Entries{}).has_value());
  }
}

TEST_CASE("Libraries that glibc would not find cannot be added") {
  for (const LinkerEntry& entry : Entries{{"", "/a", 3},
                                          {"a/b", "/a", 3},
                                          {std::string{"a\0b", 3}, "/a", 3},
                                          {std::string(256, 'a'), "/a", 3},
                                          {".", "/a", 3},
                                          {"..", "/a", 3},
                                          {"a", "", 3},
                                          {"a", "a", 3},
                                          {"a", std::string{"/\0", 2}, 3},
                                          {"a", "/" + std::string(4095, 'a'), 3},
                                          {"a", "/a", 0}}) {
    CAPTURE(entry.soname);
    CHECK_FALSE(merged_linker_cache("", std::vector{entry}).has_value());
  }
  CHECK(merged_linker_cache("", Entries{{std::string(255, 'a'), "/" + std::string(4094, 'a'), 3}}));
}

TEST_CASE("Caches that are not caches, or too large, are not usable") {
  CHECK_FALSE(merged_linker_cache("x", Entries{}).has_value());
  CHECK_FALSE(merged_linker_cache("glibc-ld.so.cache1.2" + std::string(28, '\0'), Entries{}));
  CHECK_FALSE(merged_linker_cache("ld.so-1.7.0", Entries{}).has_value());
  auto cache = new_cache({{"a", "/a"}});
  cache.resize(std::size_t{8} << 20U);
  CHECK(merged_linker_cache(cache, Entries{}).has_value());
  cache.push_back('\0');
  CHECK_FALSE(merged_linker_cache(cache, Entries{}).has_value());
  CHECK_FALSE(merged_linker_cache(new_cache({{std::string(256, 'a'), "/a"}}), Entries{}));
  CHECK(merged_linker_cache(new_cache({{std::string(255, 'a'), "/a"}}), Entries{}));
  CHECK(merged_linker_cache(new_cache({}, std::vector<std::string>(128, "v")), Entries{}));
  CHECK_FALSE(merged_linker_cache(new_cache({}, std::vector<std::string>(129, "v")), Entries{}));
}

TEST_CASE("Each part of the extension is checked") {
  const auto good = new_cache({{"a", "/a", x86_64, in_hwcaps(0)}}, {"v2"});
  const std::size_t extension = u32_at(good, 32);
  const auto data = extension + 40;
  const auto usable = [](const std::string& cache) {
    return merged_linker_cache(cache, Entries{}).has_value();
  };
  auto cache = good;
  set_u32(cache, extension, 0);
  CHECK_FALSE(usable(cache));
  cache = good;
  set_u32(cache, extension + 36, 2);  // half a number
  CHECK_FALSE(usable(cache));
  cache = good;
  cache.insert(extension, 1, '\0');  // not at a multiple of 4
  set_u32(cache, 32, extension + 1);
  set_u32(cache, extension + 17, data + 5);
  set_u32(cache, extension + 33, data + 1);
  CHECK_FALSE(usable(cache));
  for (const std::size_t size : {256U, 257U}) {  // the name of who made the cache
    cache = good + std::string(size, 'x');
    set_u32(cache, extension + 20, size);
    CHECK(usable(cache) == (size == 256));
  }
}

TEST_CASE("Of an extension, the last section of each known tag is kept") {
  const auto good = new_cache({{"a", "/a", x86_64, in_hwcaps(0)}}, {"v2"});
  const std::size_t extension = u32_at(good, 32);
  auto cache = good;
  set_u32(cache, extension + 8, 1);
  set_u32(cache, extension + 16, extension + 40);
  const auto once = merged_linker_cache(cache, Entries{});
  CHECK(shown(once) == "a 771 /a os 7 in v2\n");
  REQUIRE(once.has_value());
  CHECK(once->size() == good.size() - 4);  // without who made it
  set_u32(cache, extension + 8, 2);
  CHECK(merged_linker_cache(cache, Entries{}) == once);
}

TEST_CASE("A cache that has the added libraries already stays as it is") {
  const Entries added{{"b", "/b", x86_64}, {"a", "/x/a", x86_64}};
  const auto once = merged_linker_cache(new_cache({{"a", "/a"}}), added);
  REQUIRE(once.has_value());
  CHECK(merged_linker_cache(*once, added) == once);
  CHECK(merged_linker_cache(*once, Entries{added[1]}) == once);
  CHECK(merged_linker_cache(*once, Entries{{"a", "/y/a", x86_64}}) != once);
  CHECK(merged_linker_cache(*once, Entries{{"c", "/c", x86_64}}) != once);
}

TEST_CASE("The texts of a cache are not longer than the cache") {
  auto cache = new_cache({{"a", "/a"}});
  set_u32(cache, 24, u32_at(cache, 24) + 1);
  CHECK_FALSE(merged_linker_cache(cache, Entries{}).has_value());
}

TEST_CASE("A damaged cache is not usable, or gives a good one of bounded size") {
  const std::vector<CachedLibrary> rows{{"c", "/v2/c", x86_64, in_hwcaps(0)}, {"c", "/c"}};
  const auto embedded = old_cache(rows).substr(0, 40) + new_cache(rows, {"v2"}, 40);
  const Entries added{{"d", "/d", x86_64}};
  for (const auto& good : {new_cache(rows, {"v2"}), embedded, old_cache(rows)}) {
    REQUIRE(merged_linker_cache(good, added).has_value());
    for (std::size_t size = 1; size < good.size(); ++size) {
      CHECK_FALSE(merged_linker_cache(std::string_view{good}.substr(0, size), added).has_value());
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const unsigned flip : {0x01U, 0x04U, 0x80U, 0xffU}) {
        auto bytes = good;
        bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
        const auto cache = merged_linker_cache(bytes, added);
        if (!cache) continue;
        CHECK(cache->size() <= 2 * good.size() + 1024);
        CHECK(merged_linker_cache(*cache, Entries{}) == cache);
      }
    }
  }
}

TEST_CASE("the libraries of one kind are listed in their order") {
  const std::vector<CachedLibrary> rows{{"liba.so.1", "/32/a", i386},
                                        {"libb.so.2", "/b"},
                                        {"liba.so.1", "/a"},
                                        {"", "/c"},
                                        {"d", ""}};
  const Entries expected{{"libb.so.2", "/b", x86_64}, {"liba.so.1", "/a", x86_64}};
  const auto embedded = old_cache(rows).substr(0, 16 + 12 * rows.size());
  for (const auto& cache : {new_cache(rows), old_cache(rows)}) {
    CHECK(linker_entries(cache, x86_64) == expected);
    CHECK(linker_entries(cache, i386) == Entries{{"liba.so.1", "/32/a", i386}});
    CHECK(linker_entries(cache.substr(0, cache.size() - 1), x86_64).empty());
  }
  const auto end = (embedded.size() + 7) / 8 * 8;
  CHECK(linker_entries(embedded + std::string(end - embedded.size(), '\0') + new_cache(rows),
                       x86_64) == expected);
  CHECK(linker_entries("", x86_64).empty());
  const std::string longest(4095, 'a');
  CHECK(linker_entries(new_cache({{"a", longest}, {"b", longest + "a"}}), x86_64).size() == 1);
}
