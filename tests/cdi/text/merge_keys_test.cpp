// Tests for include/cdi/text/merge_keys.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/text/merge_keys.hpp>

#include "../../support/document_by_hand.hpp"
#include "../../support/yaml_by_hand.hpp"

namespace {

TEST_CASE("A merge key brings members that the map does not have") {
  Hand hand;
  hand.map();
  hand.word("<<");
  hand.list();
  for (const auto* value : {"1", "2"}) {
    hand.map();
    hand.word("a");
    hand.word(value);
    hand.word(value);
    hand.list();
    hand.end_list();
    hand.word("own");
    hand.word("merged");
    hand.end_map();
  }
  hand.end_list();
  hand.word("own");
  hand.word("kept");
  CHECK(hand.end_map());
  CHECK(shown(hand.finish()) == "{own=kept a=1 1=[] 2=[]}");
}

TEST_CASE("A merge key in quotes, or in JSON, is a key like any other") {
  Hand quoted;
  quoted.map();
  quoted.text("<<");
  quoted.word("1");
  CHECK(quoted.end_map());
  CHECK(shown(quoted.finish()) == R"({"<<"=1})");

  Hand json{{}, /*merge_keys=*/false};
  json.map();
  json.word("<<");
  json.word("1");
  CHECK(json.end_map());
}

TEST_CASE("A merge key must name maps") {
  Hand hand;
  hand.map();
  hand.word("<<");
  hand.list();
  hand.map();
  hand.end_map();
  hand.word("1");  // 5
  hand.end_list();
  CHECK(hand.end_map());  // merged when all is read
  CHECK(shown(hand.finish()) == "f:1:5: << must refer to a map or a list of maps");
}

TEST_CASE("Merge keys are refused when a second copy takes too much memory") {
  const std::string text(100'000, ' ');
  for (const int values : {10'000, 20'000}) {  // 40 bytes each, of 665,536
    CAPTURE(values);
    cdi::DocumentBuilder builder{text, "f", {.expansion = 0}, true};
    builder.begin_map(0);
    builder.decoded_scalar(0, "<<", false);
    builder.begin_map(0);
    builder.end_map();
    builder.decoded_scalar(0, "a", false);
    builder.begin_list(0);
    for (int i = 0; i < values; ++i) REQUIRE(builder.null(0));
    builder.end_list();
    REQUIRE(builder.end_map());
    const auto document = std::move(builder).finish();
    CHECK(static_cast<bool>(document) == (values == 10'000));
    if (!document) CHECK(document.error().code == cdi::Errc::limit);
  }
}

TEST_CASE("The map itself takes precedence, then earlier maps of the list") {
  check_parsed({
      {"- &b {x: 1, y: 2}\n- <<: *b\n  y: 3\n  z: 4", "[{x=1 y=2} {y=3 z=4 x=1}]"},
      {"- &b {x: 1}\n- &c {x: 2, y: 2}\n- {<<: [*b, *c]}", "[{x=1} {x=2 y=2} {x=1 y=2}]"},
      {"{<<: {x: {y: [1]}}, a: 0}", "{a=0 x={y=[1]}}"},
      {"- &b {x: 1}\n- &c {<<: *b, y: 2}\n- {<<: *c, z: 3}", "[{x=1} {y=2 x=1} {z=3 y=2 x=1}]"},
      {"\"<<\": 1", R"({"<<"=1})"},
  });
  CHECK(parsed("<<: 1") == "1:5 << must refer to a map or a list of maps");
  CHECK(parsed("<<: [{}, 1]") == "1:10 << must refer to a map or a list of maps");
  CHECK(parsed("- a\n- <<: 1") == "2:7 << must refer to a map or a list of maps");
  CHECK(parsed("a: {b: {<<: 1}}") == "1:13 << must refer to a map or a list of maps");
  CHECK(parsed("<<: [{<<: 1}]") == "1:11 << must refer to a map or a list of maps");
  CHECK(parsed("{<<: {a: 1}, b: 2, b: 3}") ==
        R"(1:20 key "b" is a duplicate, first used on line 1: remove one)");
}

TEST_CASE("A merge key written twice is refused: a list names two maps") {
  for (const std::string second : {"<<", "'<<'"}) {
    CAPTURE(second);
    CHECK(parsed("{<<: {a: 1}, b: 2, " + second + ": {c: 3}}") ==
          R"(1:20 key "<<" is a duplicate, first used on line 1: remove one)");
  }
}

TEST_CASE("An anchor in a map with a merge key keeps its value") {
  // Reported: an anchor with an index from before the merge could be read past the end.
  CHECK(parsed("m:\n  <<: &x {a: foo}\n  b: bar\nz: *x") == "{m={b=bar a=foo} z={a=foo}}");
  CHECK(parsed("b: &b {p: 1}\nm:\n  <<: *b\n  q: &q [/a]\nz: {q: *q}") ==
        "{b={p=1} m={q=[/a] p=1} z={q=[/a]}}");
}

}  // namespace
