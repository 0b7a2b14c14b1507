// Tests for include/cdi/text/yaml/flow.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/flow.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

TEST_CASE("Brackets and braces have pairs, nulls and trailing commas") {
  check_parsed({
      {"[a: 1, b: [c: 2]]", "[{a=1} {b=[{c=2}]}]"},
      {"{a, b: , c: 1}", "{a=null b=null c=1}"},
      {"{\"a\":1, 'b':2}", R"({"a"=1 "b"=2})"},
      {"{a:1}", "{a:1=null}"},
      {"[a, b, ]", "[a b]"},
      {"[a b,\n  c\n  d]", "[a b c d]"},
      {"{? a : b}", "{a=b}"},
      {"[? a : b, ? c]", "[{a=b} {c=null}]"},
      {"{? a\n  b\n\t: c, ? d\n: , ? e\n}", "{a b=c d=null e=null}"},
      {"[? 'a'\n: b, ? c\n, d]", R"([{"a"=b} {c=null} d])"},
      {"[[], {}, [{}]]", "[[] {} [{}]]"},
      {"[&x a, *x , !!str 1]", "[a a \"1\"]"},
      {"[-1, -a, a-]", "[-1 -a a-]"},
  });
}

TEST_CASE("A list or map that is not ended is refused where it begins") {
  CHECK(parsed("a: 1\nb: 2\nc: {d: 1\n").starts_with("3:4 "));
  CHECK(parsed("a: 1\nb: 2\nc: [1, {d: 1}\n").starts_with("3:4 "));
}

TEST_CASE("Brackets and braces are refused as libyaml does") {
  check_rejected({"[a, , b]",      "{, a}",          "[,]",
                  "[a]: b",        "{a: b}: c",      "{[a]: b}",
                  "[a b: c: d]",   "{a: b: c}",      "[a}",
                  "{a\n: b}",      "[- a]",          "{- a}",
                  "[a\n--- b]",    "{? }",           "[a: ? b]",
                  "[a: ? b : c]",  "{a: ? b}",       "[? ? a]",
                  "{? ? a}",       "[!!str ? a]",    "[&x ? a : b]",
                  "{'a' &x}",      "{? 'a' &x : b}", "[? a\n: b\n: c]",
                  "{? 'a' 'b': c}"});
}

TEST_CASE("A list or map behind a question mark is refused as a key, also in a list") {
  check_rejected_at({
      {"[? {a: b}]", "1:4"},
      {"[? [a]]", "1:4"},
      {"[?\t{a: b}]", "1:4"},
      {"[\n?\n[a]\n]", "3:1"},
      {"[? &x {a: b}]", "1:7"},
      {"[? !!map {a: b}]", "1:10"},
      {"[? {a: b} : c]", "1:4"},
      {"a: [b, ? {c: d}, {e: f}]", "1:10"},
      {"{? [a]}", "1:4"},
      {"{? &x {a: b} : c}", "1:7"},
  });
  CHECK(parsed("[? {a: b}]") == "1:4 a key must be text");
  CHECK(parsed("[? a : {b: c}, ? d : [e], {f: g}]") == "[{a={b=c}} {d=[e]} {f=g}]");
}

TEST_CASE("A key in braces has as many bytes as libyaml allows") {
  CHECK(cdi::parse_yaml("{" + std::string(1024, 'k') + ": v}"));
  CHECK(parsed("{" + std::string(1025, 'k') + ": v}") ==
        "1:2 not valid YAML: a key has more than 1024 characters: write \"? \" before it");
}

TEST_CASE("Texts in brackets that the Go reference refuses are noted") {
  CHECK(unportable("a: [b,\n c?d, e?]") == "2:3 '?'");
  CHECK(unportable("a: {b: c\n  ?d}") == "2:3 '?'");
  CHECK(unportable("a: {!b\n c: d}") == "2:2 a");
  CHECK(unportable("a: {? !b\n c: d, e: !b\n f, !b g: h, &i\n j}") == "none");
}

TEST_CASE("Keys in brackets are text, and properties need a value in a list") {
  check_parsed({
      {"{a: 1, &x }", "1:11 a key must be text"},
      {"[!!null '' : a]", "1:9 a key must be text"},
      {"[? , a]", "1:4 a key must be text"},
      {"[[a]: b]", "1:4 a key must be text"},
      {"[a, &x ]", "[a null]"},
  });
  check_rejected({"[@a]", "{? , a: 1}", "[a, `b]"});
}

}  // namespace
