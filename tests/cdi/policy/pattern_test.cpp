// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/policy/pattern.hpp>

using cdi::detail::matches;
using cdi::detail::matches_path;

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
