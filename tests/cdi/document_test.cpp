// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/document.hpp>

namespace {

using cdi::Document;
using cdi::DocumentBuilder;
using Kind = cdi::Document::Kind;

static_assert(!std::is_copy_constructible_v<Document> && !std::is_copy_assignable_v<Document>);
static_assert(std::is_nothrow_move_constructible_v<Document>);
static_assert(!std::is_default_constructible_v<Document>, "a document has a root");
static_assert(std::is_trivially_copyable_v<Document::Value>, "a cursor");

/// Fills a document by hand, each value in a column of its own on line 1.
class Hand {
 public:
  explicit Hand(cdi::Limits limits = {}, bool merge_keys = true)
      : builder_{"f", limits, merge_keys} {}

  bool null() { return builder_.null(1, ++column_); }
  bool word(std::string_view text) { return builder_.scalar(text, false, 1, ++column_); }
  bool text(std::string_view text) { return builder_.scalar(text, true, 1, ++column_); }
  bool list() { return builder_.begin_list(1, ++column_); }
  bool end_list() { return builder_.end_list(); }
  bool map() { return builder_.begin_map(1, ++column_); }
  bool end_map() { return builder_.end_map(); }
  std::uint32_t last() const { return builder_.last(); }
  bool copy(std::uint32_t from) { return builder_.copy(from, 1, ++column_); }
  cdi::Result<Document> finish() { return std::move(builder_).finish(); }

 private:
  DocumentBuilder builder_;
  std::uint32_t column_ = 0;
};

/// A value as text: `{a=1 "b"=[null]}`.
std::string show(const Document::Value& value) {
  std::string out;
  switch (value.kind()) {
    case Kind::null: return "null";
    case Kind::plain: return std::string{value.text()};
    case Kind::quoted: return cdi::detail::quoted(value.text());
    case Kind::list:
      for (const auto item : value.items()) out.append(out.empty() ? "" : " ").append(show(item));
      return "[" + out + "]";
    case Kind::map:
      for (const auto [key, member] : value.members()) {
        out.append(out.empty() ? "" : " ").append(show(key)).append("=").append(show(member));
      }
      return "{" + out + "}";
  }
  return out;
}

std::string shown(cdi::Result<Document> document) {
  return document ? show(document->root()) : to_string(document.error());
}

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

TEST_CASE("what is put in comes out in the order written") {
  const Document document = sample();
  CHECK(document.file() == "f");
  CHECK(show(document.root()) == R"({a=[1 "x" null {}] b.c={d=2} b=[[3]]})");
  CHECK(document.root().size() == 3);
  CHECK(document.root().position().file == "f");
}

TEST_CASE("a value answers for its own kind and gives nothing for the others") {
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

TEST_CASE("text lives as long as the document, wherever that is moved") {
  Document first = sample();
  const auto text = (*(*first.root().members().begin()).value.items().begin()).text();
  Document second = std::move(first);
  Document third = sample();
  third = std::move(second);
  CHECK(text == "1");
  CHECK(text.data() == (*(*third.root().members().begin()).value.items().begin()).text().data());
}

TEST_CASE("a path leads to a value, or to the deepest one on the way") {
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

TEST_CASE("of keys with dots the longest that fits is taken, wherever it stands") {
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

TEST_CASE("a broken index leads nowhere") {  // reported
  const Document document = sample();
  for (const std::string path : {"a[", "a[]", "a[0", "a[0x", "b[", "a[.]", "a[-0]", "a[+1]"}) {
    CAPTURE(path);
    CHECK(document.locate(path).column == (path[0] == 'a' ? 3 : 13));
  }
}

TEST_CASE("a key is found as it is written before it is found in another case") {
  Hand hand;
  hand.map();
  hand.word("KEY");
  hand.null();  // 3
  hand.word("key");
  hand.null();  // 5
  hand.end_map();
  CHECK(hand.finish()->locate("key").column == 5);
}

TEST_CASE("a key written twice is refused at its second place") {
  Hand hand;
  hand.map();
  hand.word("a");
  hand.null();
  hand.text("a");  // quoted or not, the same key
  hand.null();
  CHECK_FALSE(hand.end_map());
  CHECK(shown(hand.finish()) == R"(f:1:4: key "a" is written twice, first in line 1: remove one)");
}

TEST_CASE("keys that differ in case only are two keys") {
  Hand hand;
  hand.map();
  for (const auto* key : {"a", "A", "b", ""}) {
    hand.word(key);
    hand.null();
  }
  CHECK(hand.end_map());
}

TEST_CASE("a key must be text") {
  for (const int kind : {0, 1, 2}) {
    CAPTURE(kind);
    Hand hand;
    hand.map();
    if (kind == 0) hand.null();
    if (kind == 1) hand.list(), hand.end_list();
    if (kind == 2) hand.map(), hand.end_map();
    hand.word("value");
    CHECK_FALSE(hand.end_map());
    CHECK(shown(hand.finish()) == "f:1:2: a key must be text");
  }
}

TEST_CASE("limits refuse the value that goes over them, not the one that reaches them") {
  Hand three{{.values = 3}};
  CHECK(three.list());
  CHECK(three.null());
  CHECK(three.null());
  CHECK_FALSE(three.null());
  const auto many = three.finish();
  CHECK(many.error().code == cdi::Errc::limit);
  CHECK(shown(many.error()) == "f:1:4: more than 3 values");

  Hand two{{.depth = 2}};
  CHECK(two.list());
  CHECK(two.map());
  CHECK_FALSE(two.list());
  const auto deep = two.finish();
  CHECK(deep.error().code == cdi::Errc::limit);
  CHECK(shown(deep.error()) == "f:1:3: nested more than 2 deep");
}

TEST_CASE("a copy brings a value and all in it, with the places of the original") {
  Hand hand;
  hand.list();
  hand.map();
  const auto map = hand.last();
  hand.word("a");
  hand.list();
  hand.word("1");
  hand.end_list();
  hand.end_map();
  CHECK(hand.last() == map);
  CHECK(hand.copy(map));
  CHECK(hand.copy(hand.last()));
  hand.end_list();
  const auto document = hand.finish();
  CHECK(show(document->root()) == "[{a=[1]} {a=[1]} {a=[1]}]");
  CHECK(document->locate("[2].a[0]").column == 5);
}

TEST_CASE("a copy counts in full against the limit") {
  for (const std::uint32_t values : {6U, 7U}) {
    CAPTURE(values);
    Hand hand{{.values = values}};
    hand.list();
    hand.list();
    const auto list = hand.last();
    hand.null();
    hand.null();
    hand.end_list();  // 4 so far, and 3 to copy
    CHECK(hand.copy(list) == (values == 7));
    if (values == 6) CHECK(hand.finish().error().code == cdi::Errc::limit);
  }
}

TEST_CASE("a copy of what is still open is refused") {
  Hand hand;
  hand.list();
  CHECK_FALSE(hand.copy(hand.last()));
  CHECK(shown(hand.finish()) == "f:1:2: an alias stands inside what it names");
}

TEST_CASE("a merge key brings members, and what the map says itself counts more") {
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

TEST_CASE("a merge key in quotes, or in JSON, is a key like any other") {
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

TEST_CASE("a merge key must name maps") {
  Hand hand;
  hand.map();
  hand.word("<<");
  hand.list();
  hand.map();
  hand.end_map();
  hand.word("1");  // 5
  hand.end_list();
  CHECK(hand.end_map());  // merged when all is read
  CHECK(shown(hand.finish()) == "f:1:5: << must name a map or a list of maps");
}

TEST_CASE("lines and columns of a byte count from one") {
  using cdi::detail::line_and_column;
  const std::string_view text = "ab\ncd\n\ne";
  struct Row {
    std::size_t at;
    std::uint32_t line;
    std::uint32_t column;
  };
  for (const auto& row : {Row{0, 1, 1}, Row{1, 1, 2}, Row{2, 1, 3}, Row{3, 2, 1}, Row{6, 3, 1},
                          Row{7, 4, 1}, Row{8, 4, 2}, Row{99, 4, 2}}) {
    CAPTURE(row.at);
    CHECK(line_and_column(text, row.at).line == row.line);
    CHECK(line_and_column(text, row.at).column == row.column);
  }
}

/// The member of a map.
Document::Value at(const Document& document, std::string_view name) {
  for (const auto [key, value] : document.root().members()) {
    if (key.text() == name) return value;
  }
  FAIL("no such member");
  return document.root();
}

TEST_CASE("a copy without some items of a list keeps all else in its place") {
  const Document document = sample();
  const auto list = at(document, "a");
  struct Row {
    std::vector<bool> left_out;
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

TEST_CASE("a copy without items outlives the document, and its lists can be cut again") {
  Document copy = [] {
    const Document document = sample();
    return document.without(at(document, "a"), {true, false, true});
  }();
  CHECK(show(copy.root()) == R"({a=["x" {}] b.c={d=2} b=[[3]]})");
  copy = copy.without(at(copy, "b"), {true});
  copy = copy.without(at(copy, "a"), {false, true});
  CHECK(show(copy.root()) == R"({a=["x"] b.c={d=2} b=[]})");
}

}  // namespace
