// Tests for include/cdi/text/yaml/node.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/node.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

TEST_CASE("Null has five forms, and none in quotes") {
  CHECK(parsed("[null, Null, NULL, ~, nULL]") == "[null null null null nULL]");
  CHECK(parsed("- \n-\n- null\n") == "[null null null]");
  CHECK(parsed("['', \"null\", '~', !!str ~]") == R"(["" "null" "~" "~"])");
}

TEST_CASE("A tag makes text of a value that is not written, unless it names another type") {
  check_parsed({
      {"a: !t\nb: !!str\nc: !!null\nd: &x !t\ne: *x", R"({a="" b="" c=null d="" e=""})"},
      {"- !t\n- [!t , !!null ]\n- !t null", R"(["" ["" null] "null"])"},
  });
}

TEST_CASE("The tag of null makes null of the words for it, also in quotes, and of no other text") {
  check_parsed({
      {"a: !!null \"null\"\nb: [!!null '', !!null \"~\"]", "{a=null b=[null null]}"},
      {"a: !<tag:yaml.org,2002:null> NULL\nb: !!null |\n", "{a=null b=null}"},
      {"a: &x !!null 'Null'\nb: *x", "{a=null b=null}"},
  });
  const std::string why =
      " not valid YAML: the tag !!null precedes a text: remove the tag, or write null";
  CHECK(parsed("a: !!null 'x'") == "1:11" + why);
  CHECK(parsed("- !!null\n  x") == "2:3" + why);
  CHECK(parsed("!!null '' : a") == "1:8 a key must be text");
}

TEST_CASE("A value of another type than its tag is noted") {
  CHECK(unportable(
            "[!!null ~, !!null , !!bool True, !!int 0x1F, !!int '7', !!float 3, !!float .inf, "
            "!!int 0x1E, !!float 1e3, !!timestamp 2001-01-01, !t x, {!!merge <<: {}}]") == "none");
  for (const std::string value : {"!!bool yes", "!!bool 1", "!!int 3.0", "!!int x", "!!float x",
                                  "!!int", "!!bool", "!!timestamp", "!!timestamp 20010101",
                                  "!!int 99999999999999999999", "!!int 1e3", "!!merge x"}) {
    CAPTURE(value);
    CHECK(unportable("a: 1\nb: " + value).starts_with("2:"));
  }
}

TEST_CASE("Anchors and aliases repeat values of every kind") {
  check_parsed({
      {"a: &x 1\nb: *x\nc: [*x, *x]", "{a=1 b=1 c=[1 1]}"},
      {"a: &x {b: &y [1]}\nc: *x\nd: *y", "{a={b=[1]} c={b=[1]} d=[1]}"},
      {"- &x 1\n- &x 2\n- *x", "[1 2 2]"},  // an anchor can be used again
      {"&k a: *k", "{a=a}"},
      {"- &n\n- *n", "[null null]"},
      {"a: &x 'q'\n*x : 1", R"({a="q" "q"=1})"},
  });
}

TEST_CASE("An alias is refused that names nothing, or a value around it") {
  CHECK(parsed("a: *x") == "1:4 not valid YAML: the anchor \"x\" is not defined");
  CHECK(parsed("a: &x\n  - *x") == "2:5 an alias refers to an enclosing value");
  CHECK(parsed("&x {a: [*x]}") == "1:9 an alias refers to an enclosing value");
}

TEST_CASE("An alias has neither anchor nor tag") {
  CHECK(parsed("a: &x &y *x") == "1:7 not valid YAML: a value has two anchors");
  CHECK(parsed("a: &x 1\nb: &y *x") ==
        "2:7 not valid YAML: an alias cannot have an anchor or a tag");
}

}  // namespace
