// `Document::positions_of` beside the position of each item.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

namespace {

using Lines = std::vector<std::uint32_t>;

/// The lines of the items of the outermost list, checked against the position of each.
Lines lines_of(const std::string& text) {
  const auto document = cdi::parse_yaml(text);
  REQUIRE(document);
  const auto places = document->positions_of(document->root());
  std::vector<cdi::LineColumn> one_by_one;
  for (const auto item : document->root().items()) {
    one_by_one.push_back({item.position().line, item.position().column});
  }
  CHECK(places == one_by_one);
  Lines lines;
  for (const auto& place : places) lines.push_back(place.line);
  return lines;
}

}  // namespace

TEST_CASE("Each item of a list has a line, whatever ends the lines") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    CHECK(lines_of("- a" + end + end + "- b" + end + "# c" + end + "- {d: 1," + end + " e: 2}" +
                   end + "- f") == Lines{1, 3, 5, 7});
  }
  CHECK(lines_of("[]").empty());
  CHECK(lines_of("[a, b, c]") == Lines{1, 1, 1});
  CHECK(lines_of("[a,\n b, c\n]") == Lines{1, 2, 2});
}

TEST_CASE("Items that are far from each other, and many on a line, have their lines") {
  std::string text;
  Lines expected;
  std::uint32_t line = 1;
  for (std::size_t i = 0; i < 100; ++i) {
    text += "- " + std::string(i * 37, 'x') + "0\n";
    expected.push_back(line++);
    for (std::size_t blank = 0; blank < i * 11 % 50; ++blank, ++line) text += "\n";
  }
  CHECK(lines_of(text) == expected);

  std::string wide = "[";
  for (std::size_t i = 0; i < 5000; ++i) wide += "a, ";
  CHECK(lines_of(wide + "\nb]").back() == 2);
}

TEST_CASE("The item of an alias may be before the item above it") {
  CHECK(lines_of("- &x {a: 1}\n- b\n- *x\n- c").size() == 4);
  CHECK(lines_of("- &x {a: 1}\n" + std::string(3000, '\n') + "- *x\n- c").size() == 3);
}

TEST_CASE("A value that is not a list has no items") {
  const auto document = cdi::parse_yaml("{a: 1}");
  REQUIRE(document);
  CHECK(document->positions_of(document->root()).empty());
}
