// Tests for include/cdi/text/document_builder.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>

#include "../../support/document_by_hand.hpp"

namespace {

using cdi::DocumentBuilder;

TEST_CASE("A key written twice is refused at its second place") {
  Hand hand;
  hand.map();
  hand.word("a");
  hand.null();
  hand.text("a");  // quoted or not, the same key
  hand.null();
  CHECK_FALSE(hand.end_map());
  CHECK(shown(hand.finish()) ==
        R"(f:1:4: key "a" is a duplicate, first used on line 1: remove one)");

  Hand nested;
  nested.list();
  nested.map();
  nested.word("a");
  nested.null();
  nested.word("a");
  nested.null();
  CHECK_FALSE(nested.end_map());
}

TEST_CASE("The first place that not all readers take is kept, also in a copy") {
  DocumentBuilder builder{"[a, b]", "f", {}, /*merge_keys=*/false};
  CHECK(builder.begin_list(0));
  CHECK(builder.scalar(1, 1, 1, /*quoted=*/false));
  CHECK(builder.end_list());
  CHECK(builder.notes(cdi::Errc::unsupported));
  builder.note_unportable(4, "second", "remove it");
  builder.note_unportable(1, "first", "write another");
  builder.note_unportable(3, "third", "remove it");
  CHECK_FALSE(builder.notes(cdi::Errc::syntax));
  const auto document = std::move(builder).finish();
  REQUIRE(document);
  const auto copy = document->without(document->root(), {true});
  for (const auto& found : {document->unportable(), copy.unportable()}) {
    REQUIRE(found);
    CHECK(found->reason == "first");
    CHECK(found->advice == "write another");
    CHECK(found->position.column == 2);
  }
}

TEST_CASE("Of unportable places, the first that all readers reject is kept, else the first") {
  using Code = cdi::Errc;
  const auto kept = [](std::vector<std::pair<std::size_t, Code>> places) {
    DocumentBuilder builder{"abcdef", "f", {}, /*merge_keys=*/false};
    for (const auto& [at, code] : places) builder.note_unportable(at, "odd", "", code);
    builder.scalar(0, 0, 6, /*quoted=*/false);
    return std::move(builder).finish()->unportable()->position.column;
  };
  CHECK(kept({{1, Code::invalid}, {3, Code::unsupported}, {0, Code::schema}}) == 1);
  DocumentBuilder builder{"ab", "f", {}, /*merge_keys=*/false};
  builder.note_unportable(0, "odd", "", Code::unsupported);
  CHECK(builder.notes(Code::syntax));
  CHECK_FALSE(builder.notes(Code::unsupported));
  CHECK(kept({{1, Code::invalid}, {4, Code::syntax}, {3, Code::syntax}, {0, Code::schema}}) == 4);
}

TEST_CASE("Keys that differ only in case are two keys") {
  Hand hand;
  hand.map();
  for (const auto* key : {"a", "A", "b", ""}) {
    hand.word(key);
    hand.null();
  }
  CHECK(hand.end_map());
}

TEST_CASE("An error behind the end is at the end") {
  DocumentBuilder builder{"ab\n", "f", {}, /*merge_keys=*/false};
  CHECK_FALSE(builder.reject(cdi::Errc::syntax, "here", 99));
  CHECK(builder.failed());
  CHECK(shown(std::move(builder).finish()) == "f:1:4: here");
}

TEST_CASE("A place is described by its line and column") {
  const DocumentBuilder builder{"ab\ncd", "f", {}, /*merge_keys=*/false};
  CHECK(builder.line(4) == 2);
  CHECK(builder.describe(4) == "line 2, column 2");
}

TEST_CASE("A key must be text") {
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

TEST_CASE("A value that goes over a limit is refused, one that reaches it is not") {
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
  CHECK(shown(deep.error()) == "f:1:3: more than 2 levels deep");
}

TEST_CASE("A copy has all values of the original, with their places") {
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

TEST_CASE("A copy counts in full against the limit") {
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

TEST_CASE("A copy is as deep as its lists and maps") {
  Hand hand{{.depth = 2}};
  hand.list();
  hand.list();
  const auto list = hand.last();
  hand.null();
  const auto null = hand.last();
  CHECK(hand.copy(null));
  hand.end_list();
  CHECK(hand.copy(list));
  hand.list();
  CHECK_FALSE(hand.copy(list));
  CHECK(hand.finish().error().code == cdi::Errc::limit);
}

TEST_CASE("A copy of a value that is not ended is refused") {
  Hand hand;
  hand.list();
  CHECK_FALSE(hand.copy(hand.last()));
  CHECK(shown(hand.finish()) == "f:1:2: an alias refers to an enclosing value");
}

TEST_CASE("Aliases may add ten times the text, or as much as the limits allow") {
  for (const std::size_t expansion : {std::size_t{1000}, std::size_t{400}}) {
    CAPTURE(expansion);
    Hand hand{{.expansion = expansion}};  // the text of a Hand has 40 bytes
    hand.list();
    hand.text(std::string(100, 'x'));
    const auto text = hand.last();
    for (std::size_t max = expansion / 132; max > 0; --max) CHECK(hand.copy(text));
    CHECK_FALSE(hand.copy(text));
    CHECK(hand.finish().error().code == cdi::Errc::limit);
  }
}

TEST_CASE("Aliases may add ten times the text to the byte") {
  Hand hand{{.expansion = 0}};  // for a text of 40 bytes, 400 bytes
  hand.list();
  hand.null();
  const auto null = hand.last();
  for (int i = 0; i < 12; ++i) CHECK(hand.copy(null));  // of 32 bytes each
  CHECK_FALSE(hand.copy(null));
  CHECK(shown(hand.finish()).ends_with("aliases add more than 400 bytes"));
}

TEST_CASE("Values that take too much memory are refused") {
  const std::string text(100'000, ' ');  // which may take 600 kB, and 64 KiB more
  const cdi::Limits limits{.expansion = 0};
  constexpr int max = (600'000 + 65'536) / 16;
  DocumentBuilder builder{text, "f", limits, true};
  builder.begin_list(0);
  for (int i = 1; i < max; ++i) REQUIRE(builder.null(0));
  CHECK_FALSE(builder.null(7));
  CHECK(shown(std::move(builder).finish()) == "f:1:8: the values take more than 665536 bytes");

  DocumentBuilder noted{text, "f", limits, true};
  noted.note_memory(665'536);  // the reader's own
  CHECK_FALSE(noted.null(0));
}

TEST_CASE("The largest limit does not overflow") {
  Hand hand{{.expansion = static_cast<std::size_t>(-1)}};
  hand.list();
  hand.null();
  const auto item = hand.last();
  for (int i = 0; i < 10'000; ++i) REQUIRE(hand.copy(item));
}

TEST_CASE("A copy that takes too much memory is refused") {
  const std::string text(100'000, ' ');  // which may take 665,536 bytes for values
  DocumentBuilder builder{text, "f", {.expansion = std::size_t{1} << 30}, true};
  builder.begin_list(0);
  builder.begin_list(0);
  const auto list = builder.last();
  for (int i = 0; i < 1000; ++i) builder.null(0);
  builder.end_list();
  builder.note_memory(665'536 + (std::size_t{1} << 30) - 30'000);
  CHECK_FALSE(builder.copy(list, 0));
  CHECK(std::move(builder).finish().error().code == cdi::Errc::limit);
}

}  // namespace
