// Tests for include/cdi/policy/pattern_set.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/policy/pattern_set.hpp>

using cdi::detail::matches;
using cdi::detail::matches_path;
using cdi::detail::PatternSet;

namespace {

using Texts = std::vector<std::string>;

PatternSet names(const Texts& patterns) {
  return {patterns, PatternSet::Kind::names};
}

PatternSet paths(const Texts& patterns) {
  return {patterns, PatternSet::Kind::paths};
}

}  // namespace

TEST_CASE("A list that is absent covers all, and an empty one nothing") {
  for (const auto kind : {PatternSet::Kind::names, PatternSet::Kind::paths}) {
    CHECK(PatternSet{cdi::OptionalTexts{}, kind}.covers("a"));
    CHECK_FALSE(PatternSet{cdi::OptionalTexts{Texts{}}, kind}.covers("/"));
  }
}

TEST_CASE("A name is covered by an equal one, or by a pattern with *") {
  const auto some = names({"GPU", "GPU", "A*Z", "*_PATH", "GPU_*"});
  for (const std::string_view good : {"GPU", "AZ", "ABZ", "LD_PATH", "GPU_", "GPU_1"}) {
    CAPTURE(good);
    CHECK(some.covers(good));
  }
  for (const std::string_view bad : {"", "GP", "GPUS", "A", "AZB", "PATH", "gpu", "GPU*"}) {
    CAPTURE(bad);
    CHECK_FALSE(some.covers(bad));
  }
  CHECK(names({"*"}).covers(""));
  using namespace std::string_view_literals;
  CHECK_FALSE(some.covers("GPU\0"sv));
  CHECK_FALSE(some.covers("GPU\0X"sv));
}

TEST_CASE("A path is covered by what is above it, in the shortest form of both") {
  const auto some = paths({"/usr//bin/", "/dev/gpu*", "/opt/*/lib"});
  for (const std::string_view good :
       {"/usr/bin", "/usr/./bin/a", "/../usr/bin/a/b", "/dev/gpu", "/dev/gpu-caps/1", "/opt/a/lib",
        "/opt/a/lib/b", "/usr/bin/"}) {
    CAPTURE(good);
    CHECK(some.covers(good));
  }
  for (const std::string_view bad :
       {"/usr/binary", "/usr", "/usr/bin/../../etc/passwd", "/dev/gpu/../mem", "/dev", "usr/bin",
        "", "/", "/opt/lib", "/opt/a/b/lib"}) {
    CAPTURE(bad);
    CHECK_FALSE(some.covers(bad));
  }
  CHECK(paths({"/"}).covers("/"));
  CHECK(paths({"/"}).covers("/a"));
  CHECK_FALSE(paths({"/"}).covers("a"));
  CHECK_FALSE(paths({"usr"}).covers("usr"));
  CHECK(paths({"/*"}).covers("/a/b"));
  CHECK_FALSE(paths({"/*"}).covers("/"));
}

TEST_CASE("Each pair of short patterns covers what one of them matches") {
  Texts some{""};
  for (std::size_t i = 0; some.size() < 85; ++i) {
    for (const char c : {'/', 'a', 'b', '*'}) some.push_back(some[i] + c);
  }
  const auto naive = [](const std::string& pattern, const std::string& text) {
    return cdi::detail::matches_path(cdi::clean_path(pattern), cdi::clean_path(text));
  };
  for (const auto& one : some) {
    for (const auto& other : some) {
      const auto of_names = names({one, other});
      const auto of_paths = paths({"/" + one, "/" + other});
      bool same = true;
      for (const auto& text : some) {
        const bool name = cdi::detail::matches(one, text) || cdi::detail::matches(other, text);
        const bool path = naive("/" + one, "/" + text) || naive("/" + other, "/" + text);
        same = same && of_names.covers(text) == name && of_paths.covers("/" + text) == path;
      }
      CAPTURE(one);
      CAPTURE(other);
      CHECK(same);
    }
  }
}

// Once, each text was compared with each pattern: this would run into a timeout.
TEST_CASE("Many texts and many patterns without *") {
  constexpr int count = 100'000;
  Texts same;
  Texts different;
  for (int i = 0; i < count; ++i) {
    same.emplace_back("/same");
    different.push_back("/a/" + std::to_string(i));
  }
  for (const auto& patterns : {same, different}) {
    const auto of_paths = paths(patterns);
    const auto of_names = names(patterns);
    for (int i = 0; i < count; ++i) {
      REQUIRE(of_paths.covers(patterns[static_cast<std::size_t>(i)] + "/b"));
      REQUIRE_FALSE(of_paths.covers(patterns[static_cast<std::size_t>(i)] + "-b"));
      REQUIRE(of_names.covers(patterns[static_cast<std::size_t>(i)]));
      REQUIRE_FALSE(of_names.covers(patterns[static_cast<std::size_t>(i)] + "b"));
    }
  }
}

namespace {

/// As `matches`, by its definition.
bool is_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && text.front() == pattern.front() &&
           is_match(pattern.substr(1), text.substr(1));
  }
  return is_match(pattern.substr(1), text) || (!text.empty() && is_match(pattern, text.substr(1)));
}

}  // namespace

TEST_CASE("A star is any text") {
  CHECK(matches("", ""));
  CHECK_FALSE(matches("", "a"));
  CHECK(matches("*", ""));
  CHECK(matches("***", "abc"));
  CHECK(matches("a*c", "ac"));
  CHECK(matches("a*c", "abcbc"));
  CHECK_FALSE(matches("a*c", "abcb"));
  CHECK(matches("*.com/gpu=*", "vendor.com/gpu=0"));
  CHECK_FALSE(matches("vendor.com/gpu=*", "vendor.com/gpus=0"));
  CHECK_FALSE(matches("a", "*"));
  CHECK_FALSE(matches("[a]?", "ab"));
}

TEST_CASE("A pattern with many stars takes no exponential time") {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  CHECK_FALSE(matches(pattern + "b", std::string(5000, 'a')));
}

// Once, each byte of both was compared on its own: this would take a minute.
TEST_CASE("A long part of a pattern is searched fast") {
  CHECK_FALSE(matches("*" + std::string(2000, 'a') + "b*", std::string(4'000'000, 'a')));
}

TEST_CASE("Each short pattern matches what its definition says") {
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; texts.size() < 1365; ++i) {
    for (const char c : {'a', 'b', '*', '/'}) texts.push_back(texts[i] + c);
  }
  for (const auto& pattern : texts) {
    bool same = true;
    for (const auto& text : texts) same = same && matches(pattern, text) == is_match(pattern, text);
    CAPTURE(pattern);
    CHECK(same);
  }
}

TEST_CASE("A pattern of a path covers what is below it, and a star ends at a slash") {
  CHECK(matches_path("/usr/bin", "/usr/bin"));
  CHECK(matches_path("/usr/bin", "/usr/bin/a/b"));
  CHECK_FALSE(matches_path("/usr/bin", "/usr/binary"));
  CHECK_FALSE(matches_path("/usr/bin", "/usr"));
  CHECK(matches_path("/dev/gpu*", "/dev/gpu-caps/1"));
  CHECK_FALSE(matches_path("/dev/*", "/dev"));
  CHECK_FALSE(matches_path("/*/bin", "/usr/local/bin"));
  CHECK(matches_path("/", "/anything"));
  CHECK(matches_path("/", "/"));
}
