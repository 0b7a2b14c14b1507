// Patterns for names: what they match, the number for {index}, faults, and what they cost.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/base/glob.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using tools::Glob;

bool is_match(std::string_view pattern, std::string_view text) {
  const auto glob = Glob::parse(pattern);
  REQUIRE(glob);
  return glob->matches(text);
}

/// The number for `{index}` in a name that matches, "none" without a number, "no match" otherwise.
std::string number_in(std::string_view pattern, std::string_view name) {
  const auto glob = Glob::parse(pattern, Glob::Index::yes);
  REQUIRE(glob);
  std::string number;
  if (!glob->matches(name, &number)) return "no match";
  return number.empty() ? "none" : number;
}

TEST_CASE("a star and a question mark match no slash") {
  CHECK(is_match("v.com/gpu=*", "v.com/gpu=0"));
  CHECK(is_match("v.com/gpu=*", "v.com/gpu="));
  CHECK(is_match("*/*=*", "v.com/gpu=0"));
  CHECK(is_match("v*/g*=*1", "v.com/gpu=11"));
  CHECK(is_match("v.com/gpu=??", "v.com/gpu=10"));
  CHECK_FALSE(is_match("v.com/gpu=??", "v.com/gpu=1"));
  CHECK_FALSE(is_match("*", "v.com/gpu=0"));
  CHECK_FALSE(is_match("v.com?gpu=0", "v.com/gpu=0"));
  CHECK_FALSE(is_match("v.com/gpu", "v.com/gpu=0"));
  CHECK_FALSE(is_match("v.com/gpu=*a", "v.com/gpu=0"));
}

TEST_CASE("a class matches one character") {
  CHECK(is_match("gpu=[0-2]", "gpu=1"));
  CHECK(is_match("gpu=[ab]", "gpu=b"));
  CHECK(is_match("gpu=[^0-2]", "gpu=7"));
  CHECK(is_match("gpu=[\\]]", "gpu=]"));
  CHECK_FALSE(is_match("gpu=[0-2]", "gpu=7"));
  CHECK_FALSE(is_match("gpu=[^0-2]", "gpu=1"));
  CHECK_FALSE(is_match("gpu=[0-2]", "gpu="));
  CHECK(is_match("gpu\\=\\*", "gpu=*"));
}

TEST_CASE("a malformed pattern has a fault") {
  for (const char* const pattern : {"[", "gpu=[0", "[]", "[^]", "[]a]", "[-a]", "[a-]", "[a\\",
                                    "a[[", "a\\", "[0-", "[!01]", "[3-0]", "[0-1z-a]"}) {
    CAPTURE(pattern);
    CHECK_FALSE(Glob::parse(pattern));
  }
  for (const char* const pattern :
       {"", "*", "[a]", "[a-b]", "[^a-b]", "[\\]]", "\\[", "]", "[[]", "[0!]", "[0-0]"}) {
    CAPTURE(pattern);
    CHECK(Glob::parse(pattern));
  }
}

TEST_CASE("letters, stars and classes") {
  CHECK(is_match("npu", "npu"));
  CHECK_FALSE(is_match("npu", "npu0"));
  CHECK_FALSE(is_match("np?", "np"));
  CHECK(is_match("*", ""));
  CHECK(is_match("n*u*", "npuu"));
  CHECK(is_match("*ab", "aab"));
  CHECK(is_match("bar[024]", "bar2"));
  CHECK_FALSE(is_match("bar[024]", "bar1"));
  CHECK(is_match("x[^0-9a]", "xb"));
  CHECK_FALSE(is_match("x[^0-9a]", "x5"));
  CHECK_FALSE(is_match("x[^0-9a]", "xa"));
}

TEST_CASE("{index} is a whole number, in patterns that have it") {
  CHECK(number_in("npu{index}", "npu12") == "12");
  CHECK(number_in("npu{index}", "npu") == "no match");
  CHECK(number_in("npu{index}", "npu_ctl") == "no match");
  CHECK(number_in("npu{index}pe*", "npu3pe0-1") == "3");
  CHECK(number_in("npu{index}2", "npu12") == "no match");
  CHECK(number_in("*_{index}", "a_b_7") == "7");
  CHECK(number_in("npu\\{index}", "npu{index}") == "none");
  CHECK(is_match("npu{index}", "npu{index}"));
  CHECK_FALSE(is_match("npu{index}", "npu1"));
}

TEST_CASE("literal patterns") {
  CHECK(Glob::parse("npu\\*0")->is_literal());
  CHECK(Glob::parse("npu\\*0")->literal() == "npu*0");
  CHECK_FALSE(Glob::parse("npu*0")->is_literal());
  CHECK(Glob::parse("npu[0-3]")->literal_size() == 3);
}

TEST_CASE("many stars cost little") {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "*a";
  CHECK_FALSE(is_match(pattern + "b", std::string(250, 'a')));
}

}  // namespace
