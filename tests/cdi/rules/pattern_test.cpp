// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include <doctest/doctest.h>

#include <cdi/rules/pattern.hpp>

using cdi::detail::matches;
using cdi::detail::matches_path;

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
