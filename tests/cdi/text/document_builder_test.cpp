// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>

#include "../../document_by_hand.hpp"

namespace {

using cdi::DocumentBuilder;

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

TEST_CASE("of places that not all readers take the first counts, in a copy too") {
  DocumentBuilder builder{"[a, b]", "f", {}, /*merge_keys=*/false};
  CHECK(builder.begin_list(0));
  CHECK(builder.scalar(1, 1, 1, /*quoted=*/false));
  CHECK(builder.end_list());
  CHECK(builder.is_portable());
  builder.note_unportable(4, "second");
  builder.note_unportable(1, "first");
  builder.note_unportable(3, "third");
  CHECK_FALSE(builder.is_portable());
  const auto document = std::move(builder).finish();
  REQUIRE(document);
  const auto copy = document->without(document->root(), {true});
  for (const auto& found : {document->unportable(), copy.unportable()}) {
    REQUIRE(found);
    CHECK(found->reason == "first");
    CHECK(found->position.column == 2);
  }
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

TEST_CASE("lines and columns of a byte count from one, whatever ends a line") {
  struct Row {
    std::size_t at;
    std::uint32_t line;
    std::uint32_t column;
  };
  const auto place = [](std::string_view text, std::size_t at) {
    DocumentBuilder builder{text, "f", {}, false};
    builder.refuse(cdi::Errc::syntax, "here", at);
    return std::move(builder).finish().error().position;
  };
  for (const auto& row : {Row{0, 1, 1}, Row{1, 1, 2}, Row{2, 1, 3}, Row{3, 2, 1}, Row{6, 3, 1},
                          Row{7, 4, 1}, Row{8, 4, 2}, Row{99, 4, 2}}) {
    CAPTURE(row.at);
    for (const std::string_view text : {"ab\ncd\n\ne", "ab\rcd\r\re", "ab\ncd\n\re"}) {
      CHECK(place(text, row.at).line == row.line);
      CHECK(place(text, row.at).column == row.column);
    }
  }
  CHECK(place("a\r\nb", 3).line == 2);
  CHECK(place("", 0).line == 1);
}

TEST_CASE("a place is found among many lines") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(static_cast<std::size_t>(i % 7), 'x') + "\n";
  DocumentBuilder builder{text, "f", {}, false};
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line <= 1000; ++line) {
    CAPTURE(line);
    CHECK(builder.line(begin) == line);
    begin = text.find('\n', begin) + 1;
    CHECK(builder.line(begin - 1) == line);
  }
}

TEST_CASE("aliases may bring ten times the text, or what the limits say") {
  for (const std::size_t expansion : {std::size_t{1000}, std::size_t{400}}) {
    CAPTURE(expansion);
    Hand hand{{.expansion = expansion}};  // the text of a Hand has 40 bytes
    hand.list();
    hand.text(std::string(100, 'x'));
    const auto text = hand.last();
    for (std::size_t most = expansion / 132; most > 0; --most) CHECK(hand.copy(text));
    CHECK_FALSE(hand.copy(text));
    CHECK(hand.finish().error().code == cdi::Errc::limit);
  }
}

TEST_CASE("a place in a long text is told from the lines before it") {
  // Line ends of every kind, in places that shift against any block of the text.
  std::string text;
  std::vector<std::string> expected;
  const std::vector<std::string> ends{"\n", "\r\n", "\r"};
  for (std::size_t line = 1; text.size() < 20'000; ++line) {
    const auto content = std::string(line % 7 == 0 ? 1500 : 1 + line % 5, 'x') + ends[line % 3];
    text += content;
    for (std::size_t column = 1; column <= content.size(); ++column) {
      expected.push_back("line " + std::to_string(line) + ", column " + std::to_string(column));
    }
  }
  const DocumentBuilder builder{text, "f", {}, false};
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    REQUIRE(builder.describe(at) == expected[at]);
  }
}

TEST_CASE("values that take too much memory are refused") {
  const std::string text(100'000, ' ');  // which may take 600 kB, and 64 KiB more
  const cdi::Limits limits{.expansion = 0};
  constexpr int most = (600'000 + 65'536) / 16;
  DocumentBuilder builder{text, "f", limits, true};
  builder.begin_list(0);
  for (int i = 1; i < most; ++i) REQUIRE(builder.null(0));
  CHECK_FALSE(builder.null(7));
  CHECK(shown(std::move(builder).finish()) == "f:1:8: the values take more than 665536 bytes");

  DocumentBuilder noted{text, "f", limits, true};
  noted.note_memory(665'536);  // the reader's own
  CHECK_FALSE(noted.null(0));
}

TEST_CASE("the largest of all limits is no limit") {
  Hand hand{{.expansion = static_cast<std::size_t>(-1)}};
  hand.list();
  hand.null();
  const auto item = hand.last();
  for (int i = 0; i < 10'000; ++i) REQUIRE(hand.copy(item));
}

TEST_CASE("merge keys are refused where a second copy takes too much memory") {
  const std::string text(100'000, ' ');
  for (const int values : {10'000, 20'000}) {  // 40 bytes each, of 665,536
    CAPTURE(values);
    DocumentBuilder builder{text, "f", {.expansion = 0}, true};
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

}  // namespace
