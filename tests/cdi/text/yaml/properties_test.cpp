// Tests for include/cdi/text/yaml/properties.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/properties.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

using cdi::detail::YamlProperties;

struct Read {
  std::string error{};
  std::string anchor{};
  bool tagged = false;
  std::string type{};
  bool is_text = false;
  std::string rest{};
};

/// Reads anchors and tags, with blanks between them, up to something else.
Read read(std::string_view text) {
  YamlByHand hand{text};
  cdi::detail::YamlDirectives directives{hand.cursor, hand.builder};
  cdi::detail::YamlPropertyReader reader{hand.cursor, directives};
  YamlProperties found;
  CHECK(directives.read());
  hand.cursor.skip_to_token(cdi::detail::YamlCursor::Tabs::none);
  while (hand.cursor.peek() == '&' || hand.cursor.peek() == '!') {
    if (!reader.read(found)) return {.error = hand.error()};
    hand.cursor.skip_blanks();
  }
  return {.anchor = std::string{found.anchor.value_or("")},
          .tagged = found.tagged,
          .type = std::string{found.type},
          .is_text = found.is_text,
          .rest = hand.rest()};
}

TEST_CASE("A node has an anchor and a tag, in any order") {
  for (const std::string_view text : {"&a-_9 !t x", "!t &a-_9 x"}) {
    CAPTURE(text);
    const auto found = read(text);
    CHECK(found.anchor == "a-_9");
    CHECK(found.tagged);
    CHECK(found.rest == "x");
  }
  CHECK(read("&a").anchor == "a");
  CHECK(read("&a, b").rest == ", b");
}

TEST_CASE("Properties of two lines are joined if they are an anchor and a tag") {
  const YamlProperties anchor{.anchor = "a", .begin = 1, .line_begin = 1};
  const YamlProperties tag{.tagged = true, .type = "int", .begin = 9, .line_begin = 8};
  for (const bool anchor_first : {true, false}) {
    CAPTURE(anchor_first);
    auto joined = anchor_first ? tag : anchor;
    CHECK(joined.join(anchor_first ? anchor : tag));
    CHECK(joined.anchor == "a");
    CHECK(joined.tagged);
    CHECK(joined.type == "int");
    CHECK(joined.begin == (anchor_first ? 9 : 1));
    CHECK(joined.line_begin == (anchor_first ? 8 : 1));
    CHECK_FALSE(joined.join(anchor));
    CHECK_FALSE(joined.join(tag));
  }
}

TEST_CASE("Tags make text of any scalar, unless they name another type") {
  for (const std::string_view text :
       {"!!str 1", "!<tag:yaml.org,2002:str> 1", "!t 1", "!!t 1", "!<tag:x> 1", "!int 1"}) {
    CAPTURE(text);
    CHECK(read(text).is_text);
    CHECK(read(text).type.empty());
    CHECK(read(text).rest == "1");
  }
  for (const std::string type : {"null", "bool", "int", "float", "timestamp", "merge"}) {
    CAPTURE(type);
    for (const auto& text : {"!!" + type + " 1", "!<tag:yaml.org,2002:" + type + "> 1"}) {
      CHECK_FALSE(read(text).is_text);
      CHECK(read(text).type == type);
    }
  }
  CHECK_FALSE(read("%TAG !e! tag:x\n---\n!e!f 1").is_text);
  CHECK(parsed("[!!str 5, '5', \"5\", ! 5, 5]") == R"(["5" "5" "5" 5 5])");
  CHECK_FALSE(read("! 1").is_text);  // as if it had none
  CHECK(parsed("[! '5', ! ~, ! yes]") == parsed("['5', ~, yes]"));
  CHECK(parsed("a: &a {b: c}\nd: {! <<: *a}") == parsed("a: {b: c}\nd: {b: c}"));
}

TEST_CASE("A tag ends before a comma or a bracket, one in angle brackets behind them") {
  CHECK(read("!t, b").rest == ", b");
  CHECK(read("!t] b").rest == "] b");
  CHECK(read("!<t,u>b").rest == "b");
}

TEST_CASE("Bad names, repeated properties and unknown handles are refused") {
  const std::string at = "1:1 not valid YAML: ";
  CHECK(read("& b").error ==
        at + "the name of an anchor may contain only letters, digits, _ and -");
  CHECK(read("&a.b c").error ==
        at + "the name of an anchor may contain only letters, digits, _ and -");
  CHECK(parsed("a: *") ==
        "1:4 not valid YAML: the name of an alias may contain only letters, digits, _ and -");
  CHECK(read("&a &b c").error == "1:4 not valid YAML: a value has two anchors");
  CHECK(read("!a !b c").error == "1:4 not valid YAML: a value has two tags");
  CHECK(read("!e!f 1").error == at + "the tag handle \"!e!\" is not defined");
  CHECK(read("%TAG !e! tag:x\n---\n!e!f 1").rest == "1");
  for (const std::string_view text : {"!!binary eA==", "!<tag:yaml.org,2002:binary> eA=="}) {
    CAPTURE(text);
    CHECK(read(text).error == "1:1 the tag !!binary is not supported: write the text itself");
    CHECK(cdi::parse_yaml(text).error().code == cdi::Errc::unsupported);
  }
}

TEST_CASE("Tags that are not a URI are noted, since the Go reference refuses them") {
  CHECK(unportable("a: !b:c/d%20 e\nf: !<tag:x> g\nh: !!str i") == "none");
  CHECK(unportable("a: !b>c d") == "1:4 a");
  CHECK(unportable("a: !<> d") == "1:4 a");
  CHECK(unportable("a: !< d") == "1:4 a");
  for (const std::string tag : {"!b%2x", "!b%x2", "!b%2", "!b%", "!!", "!<tag:x"}) {
    CAPTURE(tag);
    CHECK(unportable("a: " + tag + " d") == "1:4 a");
  }
}

TEST_CASE("A tag without a blank behind it is noted, since the Go reference misreads it") {
  CHECK(unportable("[!b , !<tag:x> , {a: !b }]") == "none");
  CHECK(unportable("[!<tag:x>]") == "1:10 a");
  CHECK(unportable("[a, !b, c]") == "1:7 a");
  CHECK(unportable("[a, !b]") == "1:7 a");
}

}  // namespace
