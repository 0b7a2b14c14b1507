// Tests for include/cdi/base/path.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/path.hpp>

using cdi::detail::parse_mode;

namespace {

struct Row {
  std::string path;
  std::string clean;
};

// The rules of Go's filepath.Clean, by which the reference compares and orders paths.
const Row rows[] = {
    // already clean
    {"abc", "abc"},
    {"abc/def", "abc/def"},
    {".", "."},
    {"..", ".."},
    {"../..", "../.."},
    {"../../abc", "../../abc"},
    {"/abc", "/abc"},
    {"/", "/"},
    {"...", "..."},
    {"/.a/..b", "/.a/..b"},
    // the empty path
    {"", "."},
    // trailing and doubled slashes
    {"abc/", "abc"},
    {"../", ".."},
    {"/abc/", "/abc"},
    {"//", "/"},
    {"//abc", "/abc"},
    {"abc//def///ghi", "abc/def/ghi"},
    // dots
    {"./", "."},
    {"abc/./def", "abc/def"},
    {"/./abc/def", "/abc/def"},
    {"abc/.", "abc"},
    // two dots
    {"abc/..", "."},
    {"abc/def/..", "abc"},
    {"abc/def/../..", "."},
    {"/abc/def/../..", "/"},
    {"abc/def/../../..", ".."},
    {"/abc/def/../../..", "/"},
    {"abc/def/../../../ghi/jkl/../../../mno", "../../mno"},
    {"/../abc", "/abc"},
    {"/..", "/"},
    {"../abc/..", ".."},
    {"../abc/../..", "../.."},
    {"abc/../..", ".."},
    {"abc/../../def", "../def"},
    // all of these
    {"abc/./../def", "def"},
    {"abc//./../def", "def"},
    {"abc/../../././../def", "../../def"},
};

TEST_CASE("Paths are cleaned by their text") {
  for (const auto& row : rows) {
    CAPTURE(row.path);
    CHECK(cdi::clean_path(row.path) == row.clean);
    CHECK(cdi::clean_path(row.clean) == row.clean);  // once is enough
  }
}

TEST_CASE("Depth counts the slashes of the cleaned path") {
  struct Depth {
    std::string path;
    std::size_t depth;
  };
  for (const auto& row : {
           Depth{"/", 1},
           Depth{"/proc", 1},
           Depth{"/proc/", 1},
           Depth{"//proc//sys", 2},
           Depth{"/a/b/..", 1},
           Depth{"/..", 1},
           Depth{"rel", 0},
           Depth{"", 0},
           Depth{"a/b", 1},
           Depth{"../a", 1},
           Depth{"/.a", 1},
           Depth{"/a/.b/c.", 3},
       }) {
    CAPTURE(row.path);
    CHECK(cdi::detail::path_depth(row.path) == row.depth);
  }
}

TEST_CASE("Depth takes an uncleaned path, and counts the cleaned one") {
  constexpr std::string_view letters = "/.a";
  for (std::size_t number = 0; number < 6561; ++number) {  // all paths of eight letters
    std::string path;
    for (std::size_t rest = number + 6561; rest > 1; rest /= 3) path.push_back(letters[rest % 3]);
    std::size_t slashes = 0;
    for (const char c : cdi::clean_path(path)) slashes += c == '/' ? 1 : 0;
    CAPTURE(path);
    CHECK(cdi::detail::path_depth(path) == slashes);
  }
}

}  // namespace

TEST_CASE("The end of the name says the format, in lower case only") {
  using cdi::Format;
  struct {
    std::string path;
    std::optional<Format> format;
  } const names[] = {
      {"a.json", Format::json},      {"/x/a.yaml", Format::yaml},
      {".json", Format::json},       {"a.yaml.json", Format::json},
      {"a.json.yaml", Format::yaml}, {"a.yml", std::nullopt},
      {"a.JSON", std::nullopt},      {"a.json~", std::nullopt},
      {"json", std::nullopt},        {"", std::nullopt},
      {"a.json/", std::nullopt},     {"a.json.tmp", std::nullopt},
  };
  for (const auto& row : names) {
    CAPTURE(row.path);
    CHECK(cdi::format_of(row.path) == row.format);
  }
}

TEST_CASE("A part of a path that is .. is found, and no other part with dots") {
  for (const auto* path : {"/..", "/../a", "/a/..", "/a/../b"}) {
    CAPTURE(path);
    CHECK(cdi::detail::has_parent_part(path));
  }
  for (const auto* path : {"", "/", "/a", "/...", "/a..", "/..a/b", "/a/.../b"}) {
    CAPTURE(path);
    CHECK_FALSE(cdi::detail::has_parent_part(path));
  }
}

TEST_CASE("A name of a path may have 255 bytes") {
  const std::string name(255, 'a');
  for (const auto& path : {std::string{}, std::string{"/"}, name, "/" + name, name + "/",
                           "/" + name + "//" + name + "/x"}) {
    CHECK_FALSE(cdi::detail::has_long_name(path));
  }
  for (const auto& path :
       {name + "a", "/a" + name, "/b/a" + name + "/", "/" + name + "/a" + name}) {
    CHECK(cdi::detail::has_long_name(path));
  }
}

TEST_CASE("A mode is octal text, at most 07777") {
  CHECK(parse_mode("0") == 0U);
  CHECK(parse_mode("644") == 0644U);
  CHECK(parse_mode("0644") == 0644U);
  CHECK(parse_mode("07777") == 07777U);
  for (const auto* wrong : {"", "8", "0648", "-1", "0x1", " 644", "644 ", "10000", "000644"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_mode(wrong));
  }
}
