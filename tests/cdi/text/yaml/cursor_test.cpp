// Tests for include/cdi/text/yaml/cursor.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/cursor.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

using Tabs = cdi::detail::YamlCursor::Tabs;

/// The text behind blanks, comments and line ends.
std::string token(std::string_view text, Tabs tabs) {
  YamlByHand hand{text};
  hand.cursor.skip_to_token(tabs);
  return hand.rest();
}

TEST_CASE("Blanks, comments and line ends are before a token") {
  CHECK(token("  a", Tabs::none) == "a");
  CHECK(token("# note\n \n  a", Tabs::none) == "a");
  CHECK(token(" # note\r\n\ra", Tabs::none) == "a");
  CHECK(token("# note", Tabs::none).empty());
}

TEST_CASE("Tabs are blanks where they are allowed") {
  CHECK(token(" \ta", Tabs::none) == "\ta");
  CHECK(token(" \ta", Tabs::on_this_line) == "a");
  CHECK(token("\t\n\ta", Tabs::on_this_line) == "\ta");
  CHECK(token("\t\n\ta", Tabs::anywhere) == "a");
}

TEST_CASE("Blank lines and comments may begin with a tab") {
  const auto behind = [](std::string_view text) {
    YamlByHand hand{text};
    return hand.cursor.skip_tab_lines() ? hand.rest() : "a token";
  };
  CHECK(behind("\t\n \t# note\n  a") == "  a");
  CHECK(behind("\t# note\n\n\ta") == "\ta");
  CHECK(behind("\t").empty());
  CHECK(behind("\t a") == "a token");
}

TEST_CASE("Tabs that begin lines without content are noted") {
  for (const std::string_view text :
       {"# note\n\t# note\na: b", "--- # note\n\t# note\na: b", "a: 'b'\n\t\nc: d",
        "# note\n\t\na: b", "a: [] # note\n\t# note\nc: d", "a:\n\t# note\n  b", "a: b\n\t",
        "a: b\n\t# note\nc: d", "# note\n\t\n\n---\na: b"}) {
    CAPTURE(text);
    CHECK(unportable(text) == "2:1 a");
  }
}

TEST_CASE("A key may have 1024 characters, however many bytes they take") {
  const auto is_long = [](const std::string& key) {
    YamlByHand hand{key};
    hand.cursor.move(key.size());
    return hand.cursor.is_long_key(0);
  };
  const std::string letters(1022, 'a');
  CHECK_FALSE(is_long(letters + "aa"));
  CHECK(is_long(letters + "aaa"));
  CHECK_FALSE(is_long(letters + "\u20ac\u20ac"));
  CHECK(is_long(letters + "\u20ac\u20ac\u20ac"));
}

TEST_CASE("Columns count from the begin of the line, whatever ends it") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    CAPTURE(cdi::quoted(end));
    YamlByHand hand{"ab" + end + "  c"};
    CHECK(hand.cursor.take_line() == "ab");
    CHECK(hand.cursor.column() == 2);
    hand.cursor.next_line();
    CHECK(hand.cursor.column() == 0);
    CHECK(hand.cursor.line_begin() == 2 + end.size());
    hand.cursor.skip_blanks();
    CHECK(hand.cursor.column() == 2);
    CHECK(hand.cursor.column_of(hand.cursor.line_begin() + 1) == 1);
  }
}

TEST_CASE("A line is fresh until a token of it is taken") {
  YamlByHand hand{"a\nb"};
  CHECK(hand.cursor.is_fresh());
  CHECK(hand.cursor.take_fresh());
  CHECK_FALSE(hand.cursor.take_fresh());
  hand.cursor.move(1);
  hand.cursor.skip_to_token(Tabs::none);
  CHECK(hand.cursor.is_fresh());
}

TEST_CASE("A cursor that moves back remembers that the text it passed is blank") {
  YamlByHand hand{"a \n\t b"};
  hand.cursor.move(2);
  hand.cursor.next_line();
  hand.cursor.move(2);
  hand.cursor.move_back(1, 0);
  CHECK(hand.cursor.column() == 1);
  CHECK_FALSE(hand.cursor.is_fresh());
  hand.cursor.skip_to_token(Tabs::none);
  CHECK(hand.rest() == "b");
}

TEST_CASE("Markers and indicators have a blank or a line end behind them") {
  for (const std::string_view text : {"---", "--- a", "---\t", "---\n", "...", "...\r\n"}) {
    CAPTURE(text);
    CHECK(YamlByHand{text}.cursor.is_any_marker());
  }
  for (const std::string_view text : {"--", "---a", "....", "a---"}) {
    CAPTURE(text);
    CHECK_FALSE(YamlByHand{text}.cursor.is_any_marker());
  }
  CHECK_FALSE(YamlByHand{"..."}.cursor.is_marker("---"));
  CHECK(YamlByHand{"-"}.cursor.is_indicator('-'));
  CHECK(YamlByHand{"- a"}.cursor.is_indicator('-'));
  CHECK_FALSE(YamlByHand{"-a"}.cursor.is_indicator('-'));
  CHECK_FALSE(YamlByHand{"? a"}.cursor.is_indicator('-'));
}

TEST_CASE("A colon ends a key, in brackets also without a blank behind it") {
  CHECK(YamlByHand{" \t: a"}.cursor.at_colon());
  CHECK(YamlByHand{":"}.cursor.at_colon());
  CHECK_FALSE(YamlByHand{" :a"}.cursor.at_colon());
  CHECK(YamlByHand{" :a"}.cursor.at_flow_colon());
  CHECK_FALSE(YamlByHand{"\n: a"}.cursor.at_flow_colon());
}

TEST_CASE("A line ends behind blanks and before a comment") {
  for (const std::string_view text : {"", " \t", " # note", "\r\n"}) {
    CAPTURE(text);
    CHECK(YamlByHand{text}.cursor.at_line_end());
  }
  CHECK_FALSE(YamlByHand{" a"}.cursor.at_line_end());
}

TEST_CASE("A second byte order mark and bytes that YAML does not allow are refused") {
  const auto error = [](std::string_view text) {
    YamlByHand hand{text};
    return hand.cursor.check_characters() ? "none" : hand.error();
  };
  CHECK(error("a: \xc3\xa9") == "none");
  CHECK(error("\xEF\xBB\xBF\xEF\xBB\xBF") ==
        "1:1 not valid YAML: a second byte order mark: remove it");
  CHECK(error("a\n \x01").starts_with("2:2 not valid YAML: control character U+0001: remove it"));
}

TEST_CASE("One line end is a blank, more are line ends without the first") {
  std::string text = "a";
  for (const std::size_t line_ends : {0U, 1U, 2U, 4U}) {
    cdi::detail::append_folded(text, line_ends);
    text += "|";
  }
  CHECK(text == "a| |\n|\n\n\n|");
}

}  // namespace
