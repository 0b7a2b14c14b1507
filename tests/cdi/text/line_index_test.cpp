// Tests for include/cdi/text/line_index.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/line_index.hpp>

namespace {

using cdi::detail::LineIndex;

/// `LINE:COLUMN` of a byte.
std::string found_at(std::string_view text, std::size_t at) {
  const auto [line, column] = LineIndex{text}.find(text, at);
  return std::to_string(line) + ":" + std::to_string(column);
}

TEST_CASE("Lines and columns count from one, whatever ends a line") {
  struct Row {
    std::size_t at;
    std::string_view expected;
  };
  for (const auto& row : {Row{0, "1:1"}, Row{1, "1:2"}, Row{2, "1:3"}, Row{3, "2:1"}, Row{6, "3:1"},
                          Row{7, "4:1"}, Row{8, "4:2"}}) {
    CAPTURE(row.at);
    for (const std::string_view text : {"ab\ncd\n\ne", "ab\rcd\r\re", "ab\ncd\n\re"}) {
      CHECK(found_at(text, row.at) == row.expected);
    }
  }
  CHECK(found_at("a\r\nb", 3) == "2:1");
  CHECK(found_at("", 0) == "1:1");
  const auto [line, column] = LineIndex{}.find("", 0);
  CHECK(line == 1);
  CHECK(column == 1);
}

TEST_CASE("The end of a text is in its last line") {
  CHECK(found_at("a\n", 2) == "1:3");
  CHECK(found_at("a\nb", 3) == "2:2");
}

TEST_CASE("A place is found among many lines") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(static_cast<std::size_t>(i % 7), 'x') + "\n";
  const LineIndex index{text};
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line <= 1000; ++line) {
    CAPTURE(line);
    CHECK(index.find(text, begin).line == line);
    begin = text.find('\n', begin) + 1;
    CHECK(index.find(text, begin - 1).line == line);
  }
}

TEST_CASE("A place is found between marks, where line ends have one byte or two") {
  std::string text;
  std::vector<std::string> expected;
  const std::vector<std::string> ends{"\n", "\r\n", "\r"};
  for (std::size_t line = 1; text.size() < 20'000; ++line) {
    const auto content = std::string(line % 7 == 0 ? 1500 : 1 + line % 5, 'x') + ends[line % 3];
    text += content;
    for (std::size_t column = 1; column <= content.size(); ++column) {
      expected.push_back(std::to_string(line) + ":" + std::to_string(column));
    }
  }
  const LineIndex index{text};
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    const auto [line, column] = index.find(text, at);
    REQUIRE(std::to_string(line) + ":" + std::to_string(column) == expected[at]);
  }
}

TEST_CASE("Many bytes have the places that each of them has, in any order") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(static_cast<std::size_t>(i % 7), 'x') + "\r\n";
  const LineIndex index{text};
  const std::vector<std::uint32_t> bytes{0, 0, 3, 700, 4000, 12, 4999, 4998};
  std::vector<cdi::LineColumn> expected;
  for (const std::uint32_t at : bytes) expected.push_back(index.find(text, at));
  const auto places = index.find_all(text, bytes);
  CHECK(places == expected);
  CHECK(places.front() == cdi::LineColumn{1, 1});
  CHECK(places.back().line > 900);
}

TEST_CASE("The next line is behind LF, CR LF or CR") {
  CHECK(cdi::detail::next_line("a\nb", 0) == 2);
  CHECK(cdi::detail::next_line("a\r\nb", 0) == 3);
  CHECK(cdi::detail::next_line("a\r\rb", 0) == 2);
  CHECK(cdi::detail::next_line("a\rb", 1) == 2);
  CHECK(cdi::detail::next_line("ab", 1) == 2);
  CHECK(cdi::detail::next_line("", 0) == 0);
}

TEST_CASE("The end of a text that has only its marks is found") {
  const std::string text(2048, 'a');  // two marks
  CHECK(found_at(text, text.size()) == "1:2049");
  CHECK(found_at(text, text.size() - 1) == "1:2048");
}

}  // namespace
