// Tests for include/cdi/text/document.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

#include "../../support/document_by_hand.hpp"

namespace {

using cdi::Document;
using Kind = cdi::Document::Kind;

static_assert(!std::is_copy_constructible_v<Document> && !std::is_copy_assignable_v<Document>);
static_assert(std::is_nothrow_move_constructible_v<Document>);
static_assert(!std::is_default_constructible_v<Document>, "a document has a root");
static_assert(std::is_trivially_copyable_v<Document::Value>, "a cursor");

/// {a: [1, "x", null, {}], b.c: {d: 2}, b: [[3]]}, a column for each value.
Document sample() {
  Hand hand;
  hand.map();        // 1
  hand.word("a");    // 2
  hand.list();       // 3
  hand.word("1");    // 4
  hand.text("x");    // 5
  hand.null();       // 6
  hand.map();        // 7
  hand.end_map();    //
  hand.end_list();   //
  hand.word("b.c");  // 8
  hand.map();        // 9
  hand.word("d");    // 10
  hand.word("2");    // 11
  hand.end_map();    //
  hand.word("b");    // 12
  hand.list();       // 13
  hand.list();       // 14
  hand.word("3");    // 15
  hand.end_list();
  hand.end_list();
  hand.end_map();
  return *hand.finish();
}

TEST_CASE("Values are in the order in which they were added") {
  const Document document = sample();
  CHECK(document.file() == "f");
  CHECK(show(document.root()) == R"({a=[1 "x" null {}] b.c={d=2} b=[[3]]})");
  CHECK(document.root().size() == 3);
  CHECK(document.root().position().file == "f");
}

TEST_CASE("A value has the text, items or members of its own kind, and none of other kinds") {
  const Document document = sample();
  const auto root = document.root();
  const auto list = (*root.members().begin()).value;
  const auto number = *list.items().begin();
  CHECK(root.text().empty());
  CHECK(root.items().begin() == root.items().end());
  CHECK(list.size() == 4);
  CHECK(list.members().begin() == list.members().end());
  CHECK(number.is_scalar());
  CHECK(number.size() == 0);
  CHECK(number.items().begin() == number.items().end());
  CHECK(number.members().begin() == number.members().end());
}

TEST_CASE("Text lives as long as the document, also after a move") {
  Document first = sample();
  const auto text = (*(*first.root().members().begin()).value.items().begin()).text();
  Document second = std::move(first);
  Document third = sample();
  third = std::move(second);
  CHECK(text == "1");
  CHECK(text.data() == (*(*third.root().members().begin()).value.items().begin()).text().data());
}

TEST_CASE("A path gives the place of a value, or of the innermost enclosing one") {
  const Document document = sample();
  struct Row {
    std::string path;
    std::uint32_t column;
  };
  for (const auto& row : {
           Row{"", 1},
           Row{"a", 3},
           Row{"A", 3},  // fields are read in any case
           Row{"a[0]", 4},
           Row{"a[3]", 7},
           Row{"a[4]", 3},
           Row{"a[3].x", 7},
           Row{"b", 13},
           Row{"b[0][0]", 15},
           Row{"b[1][0]", 13},
           Row{"b.c", 9},  // the longest key
           Row{"b.c.d", 11},
           Row{"b.x", 13},
           Row{"b.c.x", 9},
           Row{"x", 1},
           Row{"ab", 1},
           Row{"[0]", 1},
           Row{".", 1},
           Row{"..", 1},
           Row{"a[18446744073709551615]", 3},
           Row{"a[99999999999999999999999]", 3},
           Row{"a.[0]", 4},
       }) {
    CAPTURE(row.path);
    CHECK(document.locate(row.path).column == row.column);
  }
}

TEST_CASE("Of keys with dots, the longest that fits the path is used, wherever it is") {
  const std::vector<std::vector<std::string>> orders{
      {"k", "k.l", "k.l.m"}, {"k.l.m", "k.l", "k"}, {"k.l", "k.l.m", "k"}};
  for (const auto& keys : orders) {
    CAPTURE(keys[0]);
    Hand hand;
    hand.map();
    for (const auto& key : keys) {
      hand.word(key);
      hand.list();
      hand.word(key);
      hand.end_list();
    }
    hand.end_map();
    const auto document = hand.finish();
    for (std::uint32_t i = 0; i < 3; ++i) {
      CAPTURE(keys[i]);
      CHECK(document->locate(keys[i] + "[0]").column == 4 + 3 * i);
    }
  }
}

TEST_CASE("A malformed index gives the place of the list") {  // reported
  const Document document = sample();
  for (const std::string path : {"a[", "a[]", "a[0", "a[0x", "b[", "a[.]", "a[-0]", "a[+1]"}) {
    CAPTURE(path);
    CHECK(document.locate(path).column == (path[0] == 'a' ? 3 : 13));
  }
}

TEST_CASE("A key in the same case is found before one in another case") {
  Hand hand;
  hand.map();
  hand.word("KEY");
  hand.null();  // 3
  hand.word("key");
  hand.null();  // 5
  hand.end_map();
  CHECK(hand.finish()->locate("key").column == 5);
}

/// The member of a map.
Document::Value at(const Document& document, std::string_view name) {
  for (const auto [key, value] : document.root().members()) {
    if (key.text() == name) return value;
  }
  FAIL("no such member");
  return document.root();
}

TEST_CASE("A copy without some items of a list keeps the places of all other values") {
  const Document document = sample();
  const auto list = at(document, "a");
  struct Row {
    std::vector<char> left_out;
    std::string_view shown;
    std::size_t size = 4;
  };
  for (const auto& row :
       {Row{{}, R"({a=[1 "x" null {}] b.c={d=2} b=[[3]]})"},
        Row{{true}, R"({a=["x" null {}] b.c={d=2} b=[[3]]})", 3},
        Row{{false, true, false, true}, "{a=[1 null] b.c={d=2} b=[[3]]}", 2},
        Row{{false, false, false, true}, R"({a=[1 "x" null] b.c={d=2} b=[[3]]})", 3},
        Row{{true, true, true, true}, "{a=[] b.c={d=2} b=[[3]]}", 0},
        Row{{false, false, false, false, true}, R"({a=[1 "x" null {}] b.c={d=2} b=[[3]]})"}}) {
    CAPTURE(row.shown);
    const Document copy = document.without(list, row.left_out);
    CHECK(show(copy.root()) == row.shown);
    CHECK(copy.file() == "f");
    CHECK(copy.root().size() == 3);
    CHECK(at(copy, "a").size() == row.size);
    CHECK(copy.locate("b[0][0]").column == 15);
    CHECK(copy.locate("b.c.d").column == 11);
  }
  CHECK(document.without(list, {true, true}).locate("a[1]").column == 7);
  CHECK(document.without(list, {true, true}).locate("a[0]").column == 6);
  CHECK(show(document.root()) == R"({a=[1 "x" null {}] b.c={d=2} b=[[3]]})");
}

TEST_CASE("A copy without items outlives the document, and can be copied again") {
  Document copy = [] {
    const Document document = sample();
    return document.without(at(document, "a"), {true, false, true});
  }();
  CHECK(show(copy.root()) == R"({a=["x" {}] b.c={d=2} b=[[3]]})");
  copy = copy.without(at(copy, "b"), {true});
  copy = copy.without(at(copy, "a"), {false, true});
  CHECK(show(copy.root()) == R"({a=["x"] b.c={d=2} b=[]})");
}

TEST_CASE("Only escapes write a NUL") {
  for (const char* text : {R"({"a\u0000":1})", R"(["\n\u0000"])"}) {
    CAPTURE(text);
    CHECK(cdi::parse_json(text)->may_have_nul());
  }
  CHECK(cdi::parse_yaml("a: \"\\0\"")->may_have_nul());
  CHECK_FALSE(cdi::parse_json(R"({"a\n":"\u0001"})")->may_have_nul());
}

TEST_CASE("A document that takes all of its memory leaves none for a model") {
  CHECK(sample().max_model_bytes() > std::size_t{4} << 20);
  Hand hand{{.expansion = std::size_t{64} << 20}};
  hand.list();
  hand.null();
  const auto null = hand.last();
  for (int i = 0; i < 400'000; ++i) REQUIRE(hand.copy(null));  // of 12 bytes each
  hand.end_list();
  CHECK(hand.finish()->max_model_bytes() == 0);
}

TEST_CASE("Of keys in different cases, a path names the one in its own case") {
  for (const std::string text : {R"({"a":1, "A":2})", R"({"A":2,"a":1 })"}) {
    const auto document = cdi::parse_json(text);
    REQUIRE(document);
    CHECK(document->locate("a").column == text.find('1') + 1);
    CHECK(document->locate("A").column == text.find('2') + 1);
  }
}

}  // namespace
