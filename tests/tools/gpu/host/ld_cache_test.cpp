// The entries of an ld.so.cache, whole and damaged.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/host/ld_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/ld_cache_bytes.hpp"

namespace {

using prepare::parse_ld_cache;

constexpr std::uint32_t x86_64 = 0x0303;
constexpr std::uint32_t i386 = 0x0003;
constexpr std::uint32_t x32 = 0x0803;
constexpr std::uint32_t aarch64 = 0x0a03;

using Pairs = std::vector<std::pair<std::string, std::string>>;

void overwrite_number(std::string& bytes, std::size_t at, std::uint32_t number) {
  std::string text;
  append_number(text, number);
  bytes.replace(at, text.size(), text);
}

/// The table for libc5 at the beginning, with `rows` rows.
std::string old_table(std::uint32_t rows) {
  std::string table{"ld.so-1.7.0"};
  table.append(1, '\0');
  append_number(table, rows);
  table.append(12 * std::size_t{rows}, '\x2a');
  table.append((8 - table.size() % 8) % 8, '\0');
  return table;
}

Pairs pairs(std::string_view cache, std::uint32_t kind = x86_64) {
  Pairs found;
  for (const auto& entry : parse_ld_cache(cache, kind))
    found.emplace_back(entry.soname, entry.path);
  return found;
}

const CachedLibrary cuda{x86_64, "libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"};
const CachedLibrary ml{x86_64, "libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"};
const Pairs both{{cuda.soname, cuda.path}, {ml.soname, ml.path}};

TEST_CASE("SONAMEs and paths, in the order of the cache") {
  CHECK(pairs(ld_cache_bytes({cuda, ml})) == both);
  CHECK(pairs(ld_cache_bytes({})) == Pairs{});
}

TEST_CASE("a reduced cache has nothing but the wanted libraries of a kind") {
  const auto cache =
      ld_cache_bytes({cuda, {x86_64, "libother.so.1", "/other"}, ml, {i386, "a", "/32/a"}});
  const auto is_wanted = [](std::string_view soname) {
    return soname != "libother.so.1";
  };
  const auto reduced = prepare::reduced_ld_cache(cache, is_wanted, x86_64);
  CHECK(pairs(reduced) == both);
  CHECK(reduced == ld_cache_bytes({cuda, ml}));
  CHECK(prepare::reduced_ld_cache("damaged", is_wanted, x86_64) == ld_cache_bytes({}));
}

TEST_CASE("libraries of other kinds do not count") {
  const auto cache = ld_cache_bytes({{i386, "a", "/32/a"},
                                     {x32, "b", "/x32/b"},
                                     cuda,
                                     {aarch64, "c", "/arm/c"},
                                     {x86_64 | 0x10000, "d", "/d"}});
  CHECK(pairs(cache) == Pairs{{cuda.soname, cuda.path}});
  CHECK(pairs(cache, aarch64) == Pairs{{"c", "/arm/c"}});
}

TEST_CASE("the kind is this machine's unless another one is requested") {
#if defined(__x86_64__)
  CHECK(prepare::native_library == x86_64);
#elif defined(__aarch64__)
  CHECK(prepare::native_library == aarch64);
#endif
  const auto cache = ld_cache_bytes({{prepare::native_library, "a", "/a"}});
  REQUIRE(parse_ld_cache(cache).size() == 1);
  CHECK(parse_ld_cache(cache).front().path == "/a");
}

TEST_CASE("offsets count from the end of the table for libc5") {
  // One row ends at 28 bytes, so that four must be left out; two end at 40.
  for (const std::uint32_t rows : {0U, 1U, 2U, 3U, 1000U}) {
    CAPTURE(rows);
    CHECK(pairs(old_table(rows) + ld_cache_bytes({cuda, ml})) == both);
  }
}

TEST_CASE("a table for libc5 alone") {
  CHECK(pairs(old_table(3)) == Pairs{});
  CHECK(pairs("ld.so-1.7.0") == Pairs{});
}

TEST_CASE("a table for libc5 whose size is larger than the file") {
  for (const std::uint32_t rows : {0x7fffffffU, 0xffffffffU}) {
    auto cache = old_table(1) + ld_cache_bytes({cuda});
    overwrite_number(cache, 12, rows);
    CHECK(pairs(cache) == Pairs{});
  }
}

TEST_CASE("text that is not a cache") {
  for (const auto* text : {"", "g", "glibc-ld.so.cache", "glibc-ld.so.cache1.1",
                           "\x7f"
                           "ELF"}) {
    CHECK(pairs(text) == Pairs{});
  }
  auto other_release = ld_cache_bytes({cuda});
  other_release[19] = '2';
  CHECK(pairs(other_release) == Pairs{});
}

TEST_CASE("a cache that ends early has what is whole in it") {
  for (const auto& front : {std::string{}, old_table(1)}) {
    const auto whole = front + ld_cache_bytes({cuda, ml});
    // Each string needs the NUL at its end, and the last is the path of the second library.
    const auto strings = front.size() + 48 + 2 * 24;
    const auto first = strings + cuda.soname.size() + 1 + cuda.path.size() + 1;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      const std::string cut{whole, 0, size};  // a copy, for sanitizers to see its end
      const auto expected = size < first ? Pairs{} : Pairs{both.front()};
      REQUIRE(pairs(cut) == expected);
    }
    CHECK(pairs(whole) == both);
  }
}

TEST_CASE("offsets out of range are left out, and the rest is kept") {
  const auto whole = ld_cache_bytes({cuda, ml});
  for (const std::size_t column : {4U, 8U}) {
    for (const auto offset : {static_cast<std::uint32_t>(whole.size()), 0x7fffffffU, 0xffffffffU}) {
      auto cache = whole;
      overwrite_number(cache, 48 + column, offset);
      CHECK(pairs(cache) == Pairs{both.back()});
    }
  }
}

TEST_CASE("an empty name or path is none") {
  CHECK(pairs(ld_cache_bytes({{x86_64, "", "/a"}, {x86_64, "a", ""}, cuda})) ==
        Pairs{both.front()});
}

TEST_CASE("a string that is too long for a path is none") {
  const std::string long_path(4095, 'a');
  CHECK(pairs(ld_cache_bytes({{x86_64, "a", long_path}})) == Pairs{{"a", long_path}});
  CHECK(pairs(ld_cache_bytes({{x86_64, "a", long_path + "a"}, cuda})) == Pairs{both.front()});
}

TEST_CASE("a count that is too large is cut to the rows that fit") {
  auto cache = ld_cache_bytes({cuda, ml});
  overwrite_number(cache, 20, 0xffffffff);
  const auto found = pairs(cache);
  REQUIRE(found.size() >= 2);
  CHECK(Pairs(found.begin(), found.begin() + 2) == both);
}

TEST_CASE("rows that all point to one long string do not take long") {
  // Without a limit to strings, a megabyte would be searched for each of 40000 rows.
  std::string cache{"glibc-ld.so.cache1.1"};
  append_number(cache, 40000);
  cache.append(24, '\0');
  for (int row = 0; row < 40000; ++row) {
    for (const std::uint32_t number : {x86_64, 48U + 24 * 40000, 48U + 24 * 40000, 0U, 0U, 0U}) {
      append_number(cache, number);
    }
  }
  cache.append(1 << 20, 'a');
  CHECK(pairs(cache) == Pairs{});
}

}  // namespace
