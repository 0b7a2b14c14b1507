// Patterns of paths: what they match, their numbers, and what they cost.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/host/path_glob.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using prepare::NameGlob;
using prepare::PathGlob;

/// The number for `{index}` in a name that matches, "none" without a number, "no match" otherwise.
std::string number_in(std::string_view pattern, std::string_view name) {
  const auto glob = NameGlob::parse(pattern);
  REQUIRE(glob);
  std::string number;
  if (!glob->matches(name, number)) return "no match";
  return number.empty() ? "none" : number;
}

TEST_CASE("letters, wildcards and sets") {
  CHECK(number_in("npu", "npu") == "none");
  CHECK(number_in("npu", "npu0") == "no match");
  CHECK(number_in("np?", "npu") == "none");
  CHECK(number_in("np?", "np") == "no match");
  CHECK(number_in("*", "") == "none");
  CHECK(number_in("n*u*", "npuu") == "none");
  CHECK(number_in("*ab", "aab") == "none");
  CHECK(number_in("bar[024]", "bar2") == "none");
  CHECK(number_in("bar[024]", "bar1") == "no match");
  CHECK(number_in("x[!0-9]", "xa") == "none");
  CHECK(number_in("x[!0-9]", "x5") == "no match");
  CHECK(number_in("x[]]", "x]") == "none");
}

TEST_CASE("{index} is a whole number") {
  CHECK(number_in("npu{index}", "npu12") == "12");
  CHECK(number_in("npu{index}", "npu") == "no match");
  CHECK(number_in("npu{index}", "npu_ctl") == "no match");
  CHECK(number_in("npu{index}pe*", "npu3pe0-1") == "3");
  CHECK(number_in("npu{index}2", "npu12") == "no match");
  CHECK(number_in("*_{index}", "a_b_7") == "7");
}

TEST_CASE("patterns that are not valid") {
  for (const auto* const text : {"x[", "x[a", "x[]", "x[9-0]"}) CHECK_FALSE(NameGlob::parse(text));
  for (const auto* const text : {"dev/x", "/dev//x", "/dev/./x", "/dev/../x", "/dev/x/", "",
                                 "/{index}/{index}", "/dev/\n"}) {
    CHECK_FALSE(PathGlob::parse(text));
  }
}

TEST_CASE("literal patterns") {
  CHECK(PathGlob::parse("/dev/npu_ctl")->is_literal());
  CHECK_FALSE(PathGlob::parse("/dev/npu{index}")->is_literal());
  CHECK_FALSE(PathGlob::parse("/d?v/npu")->is_literal());
}

TEST_CASE("many stars cost little") {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "*a";
  CHECK(number_in(pattern + "b", std::string(250, 'a')) == "no match");
}

}  // namespace
