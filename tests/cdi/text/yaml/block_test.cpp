// Tests for include/cdi/text/yaml/block.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/block.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

TEST_CASE("Blocks begin and end where libyaml has them") {
  check_parsed({
      {"a:\n- b\n- c\nd: 1", "{a=[b c] d=1}"},
      {"a:\n- b:\n  - c\n- d", "{a=[{b=[c]} d]}"},
      {"- - a\n  - b\n- c", "[[a b] c]"},
      {"- a: 1\n  b: 2\n-\n  c: 3", "[{a=1 b=2} {c=3}]"},
      {"-   a: 1\n    b: 2", "[{a=1 b=2}]"},
      {"a:\n    b:\n     c: 1\n    d: 2", "{a={b={c=1} d=2}}"},
      {"a:\n  - b\n\n# note\n  - c\n", "{a=[b c]}"},
      {"? a\n: b\n? c\nd: e", "{a=b c=null d=e}"},
      {"? a\n: - b\n  - c", "{a=[b c]}"},
      {"a: &x\n  b: 1\nc: *x", "{a={b=1} c={b=1}}"},
      {"a: &x\nc: *x", "{a=null c=null}"},
      {"&m\n&k a: 1\nb: *k", "{a=1 b=a}"},
      {"- &m a: 1\n- *m", "[{a=1} a]"},
      {"a: 1\n&k b: 2\n!!str c: *k", "{a=1 b=2 \"c\"=b}"},
      {"- !!map\n  a: 1\n- !t [b]", "[{a=1} [b]]"},
      {"--- {a: 1}", "{a=1}"},
      {"--- |\n x\n", "\"x\\n\""},
      {"a: 1\n  \t\nb: 2\n", "{a=1 b=2}"},  // blanks that an editor left
      {"k:\n  a: 1\n   \t\n  b: 2\n", "{k={a=1 b=2}}"},
      {"a: 1\n \t# note\nb: 2\n", "{a=1 b=2}"},
      {"? |\n  a\n: 1\n", "{\"a\\n\"=1}"},
      {"a: !<tag:yaml.org,2002:str> 0", "{a=\"0\"}"},
      {"a:\n|\n b\n", "{a=\"b\\n\"}"},
      {"%TAG !e! tag:x\n---\na: !e!f 1", "{a=1}"},
      {"a: b\n  - c", "{a=b - c}"},
      {"a: [b,\nc\n]\nd: 1", "{a=[b c] d=1}"},
  });
}

TEST_CASE("An anchor and a tag may be on two lines") {
  check_parsed({
      {"a: &x\n  !!str 1\nb: *x", R"({a="1" b="1"})"},
      {"a: !!str\n  &x 1\nb: *x", R"({a="1" b="1"})"},
      {"&x\n!!str\n1", "\"1\""},
      {"a: &x\n  !!map\n  b: c\nd: *x", "{a={b=c} d={b=c}}"},
      {"a: &x\n  !!map\n  &y b: c\nd: [*x, *y]", "{a={b=c} d=[{b=c} b]}"},
      {"a: &x\n  !!seq\n  - b\nc: *x", "{a=[b] c=[b]}"},
      {"a: !!seq\n  &x\n  [b]\nc: *x", "{a=[b] c=[b]}"},
      {"- &x\n  !!str\n- *x", R"(["" ""])"},
      {"&x\n!!map\n? a\n: b", "{a=b}"},
      {"&x\n&y !!str 1: *y", R"({"1"="1"})"},
  });
  check_rejected_at({
      {"a: &x\n  &y b", "2:3"},
      {"a: !!str\n  !!str\n  b", "2:3"},
      {"a: &x\n  !!str\n  &y b", "3:3"},
      {"a: &x\n  !!map\n  &y\n  &z b: c", "3:3"},
      {"a: &x\n  !!str\n  *x", "3:3"},
      {"a: &x\n  &y\nb: c", "2:3"},
      {"a: &x\n!!str b", "2:7"},
  });
}

TEST_CASE("A key behind a question mark may have an anchor and a tag, or be an alias") {
  check_parsed({
      {"? !!str 1\n: !!int 2\n? c\n: d", R"({"1"=2 c=d})"},
      {"? &x a\n: *x", "{a=a}"},
      {"? &x !!str 1\n: *x", R"({"1"="1"})"},
      {"? !!str\t&x 1\n: *x", R"({"1"="1"})"},
      {"a: &x b\n? *x\n: c", "{a=b b=c}"},
      {"&m\n? &x |\n  a\n: *x", R"({"a\n"="a\n"})"},
  });
  check_rejected_at({
      {"? &x {a: b}\n: c", "1:6"},
      {"? !!seq [a]\n: c", "1:9"},
      {"? &x - a\n: c", "1:6"},
      {"? &x &y a\n: c", "1:6"},
      {"? &x a: b\n: c", "1:6"},
      {"a: &x [b]\n? *x\n: c", "1:7"},  // the place of the list
      {"? !!null ''\n: c", "1:10"},
  });
  CHECK(parsed("?\n  a\n: b") == "1:2 not valid YAML: the key must be on the same line as its '?'");
  CHECK(parsed("? &x\n: b") == "1:5 not valid YAML: the key must be on the same line as its '?'");
}

TEST_CASE("A key without a colon is refused, above all where a text is cut off") {
  check_rejected_at({
      {"a: 1\npermissions", "2:1"},  // reported: it was a null
      {"a: 1\nb", "2:1"},
      {"a:\n  b: 1\n  c", "3:3"},
      {"- a: 1\n  b", "2:3"},
      {"a: 1\n\"b\"", "2:1"},
      {"a: 1\n[b]", "2:1"},
      {"a:\n- 1\nb", "3:1"},
      {"- 1\nb", "2:1"},
  });
  CHECK(parsed("a: 1\nkind:v.com/c") == "2:1 not valid YAML: write a space after ':'");
  CHECK(parsed("env:\n-A=1") == "2:1 not valid YAML: write a space after '-'");
  CHECK(parsed("type: \"").starts_with("1:7 "));  // reported: it was a text
  CHECK(parsed("type: '").starts_with("1:7 "));
}

TEST_CASE("Blocks are refused as libyaml does") {
  check_rejected({"a: - b",     "a: 1\n- b",   "- a\nb: 1",     "- 'a'\n b",     "a: \"x\" y",
                  "a: 'x'y: 1", "a\nb: c",     "? {a: b}\n: c", ": a",           "a: &x &y b",
                  "a: &x *x",   "&x - a",      "a: *",          "a: & b",        "a: !e!f 1",
                  "-\ta",       "a:\n \tb: 1", "a: b\n\t c: d", "x: 1\n\"a\":1", "&a\n&b c",
                  "a: 1\n&x",   "?\ta",        "a: 1\n&x\nb: 2"});
}

// Once, the line of the last bracket was taken for a line that nothing was read of.
TEST_CASE("Nothing but a comment follows a list in brackets or a map in braces") {
  check_rejected({"x:\n   a: [1\n]  b: 3", "x:\n  - [1\n] - 3", "x:\n   a: {b: 'c'\n}  d: 3"});
  CHECK(parsed("x:\n  a: [1\n] # note\n  b: 3") == "{x={a=[1] b=3}}");
}

TEST_CASE("Nothing but a colon on a line of its own follows a key with a question mark") {
  check_rejected_at({
      {"? 'b'- c", "1:6"},
      {"? \"b\"? c", "1:6"},
      {"? 'b' &x\n: c", "1:7"},
      {"? 'b'\n  &x\n: c", "2:3"},
      {"? 'b'\n  - c\n: d", "2:3"},
      {"? 'b'\n  c: d\n: e", "2:3"},
      {"? 'b'\n  [c]\n: d", "2:3"},
      {"? 'b'\n  : c", "2:3"},
  });
  check_parsed({
      {"? 'b' \t# note\n: c", R"({"b"=c})"},
      {"? b\t\n: c\n? d\ne: f", "{b=c d=null e=f}"},
  });
}

TEST_CASE("A key is as long as libyaml allows") {
  CHECK(cdi::parse_yaml(std::string(1023, 'k') + ": v"));
  CHECK_FALSE(cdi::parse_yaml(std::string(1025, 'k') + ": v"));
  CHECK(parsed("? " + std::string(2000, 'k') + "\n: v").ends_with("=v}"));
  for (const std::size_t count : {1024U, 1025U}) {  // in characters, not in bytes
    std::string key;
    for (std::size_t i = 0; i < count; ++i) key.append("\xc3\xa9");
    CHECK(static_cast<bool>(cdi::parse_yaml(key + ": v")) == (count == 1024));
  }
}

TEST_CASE("A block that ends is checked, and its error is at its place") {
  const std::string syntax = " not valid YAML: ";
  check_parsed({
      {"a:\n  b: 1\n  b: 2\nc: 3",
       "3:3 key \"b\" is a duplicate, first used on line 2: remove one"},
      {"a: 1\n&x", "2:1" + syntax + "an anchor or tag must be on the same line as its key"},
      {"a: &x\n  &y\n  - b", "2:3" + syntax + "a value has two anchors or tags"},
      {"a: &x\n  &y [b]", "2:3" + syntax + "a value has two anchors or tags"},
      {"- a\n&x\n- b", "2:1" + syntax + "an anchor or tag must be on the same line as its key"},
      {"- a\n? b", "2:1" + syntax + "expected '- ' before the next item"},
      {"a: |\n b\n: c", "3:1 a key must be text"},
      {"? a\n  : b", "2:3 a key must be text"},
      {"&a : b", "1:4 a key must be text"},
      {"a:\n  b: 1\n  &c:\n    d: 2", "3:5 a key must be text"},
  });
  CHECK(parsed("a:\n>\n b\nc: 1") == parsed("a: >\n b\nc: 1"));
  CHECK(parsed("a: : b").starts_with("1:4 not valid YAML: unexpected ':'"));
  CHECK(parsed("a: &b : c").starts_with("1:7 not valid YAML: unexpected ':'"));
  CHECK(parsed("a: ? b").starts_with("1:4 not valid YAML: unexpected ':'"));
  CHECK(parsed("_a: 1") == "{_a=1}");
  check_rejected({"a: 1\nb\nc: 2", "a: 1\nb", "? @", "a: b c: d", "a: 'b' 'c'"});
}

TEST_CASE("A value that is left out counts, and is rejected where it would be") {
  const std::string_view text = "a:\nb: 1";  // the map, two keys and two values
  CHECK(cdi::parse_yaml(text, {}, {.values = 5}));
  const auto rejected = cdi::parse_yaml(text, {}, {.values = 2});
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().message == "more than 2 values");
  CHECK(rejected.error().position.line == 1);
}

}  // namespace
