// Tests for include/cdi/text/json_layout.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/document.hpp>
#include <cdi/text/json_layout.hpp>
#include <cdi/text/parse_json.hpp>

namespace {

cdi::Document document_of(std::string_view text) {
  auto document = cdi::parse_json(text);
  REQUIRE_MESSAGE(document, (document ? "" : to_string(document.error())));
  return *std::move(document);
}

cdi::Document::Value member(const cdi::Document& document, std::string_view key) {
  for (const auto [name, value] : document.root().members()) {
    if (name.text() == key) return value;
  }
  FAIL("no member " << key);
  return document.root();
}

}  // namespace

TEST_CASE("A value ends behind its last byte, whatever its text contains") {
  const std::string_view values[] = {
      "null",
      "true",
      "-1.50e+10",
      R"("")",
      R"("a\"b\\")",
      R"("\u0041}")",
      "[]",
      "[ ]",
      "{ \n}",
      R"([1, "]"])",
      R"({"a": {"b": [{}, [ ] ]  }  })",
      R"({"}": "\\"})",
  };
  for (const auto value : values) {
    for (const std::string_view end : {"}", " \n}", ", \"z\": 1}"}) {
      const auto text = std::string{"{ \"key\" : "}.append(value).append(end);
      CAPTURE(text);
      const auto document = document_of(text);
      const auto found = member(document, "key");
      const cdi::detail::JsonLayout layout{document};
      CHECK(text.substr(found.offset(), layout.end_of(found) - found.offset()) == value);
      CHECK(layout.end_of(document.root()) == text.size());
    }
  }
}

TEST_CASE("The children of a value are between its brackets, without the blanks around them") {
  const std::string text = R"({"a": [ 1, [2] , {} ], "b": {"c" : 3 , "d": "]" }, "e": [  ]})";
  const auto document = document_of(text);
  const cdi::detail::JsonLayout layout{document};
  const auto children = [&](std::string_view key) {
    const auto [begin, end] = layout.children_of(member(document, key));
    return text.substr(begin, end - begin);
  };
  CHECK(children("a") == "1, [2] , {}");
  CHECK(children("b") == R"("c" : 3 , "d": "]")");
  CHECK(children("e").empty());
}

TEST_CASE("The first member gives the unit of indentation and the spaces") {
  struct {
    std::string_view text;
    std::string unit;
    bool is_spaced;
  } const rows[] = {
      {R"({"x":1})", "  ", false},         {R"({"x": 1})", "  ", true},
      {"{\n \"x\": 1\n}", " ", true},      {"{\r\n\t\"x\":1}", "\t", false},
      {"{\n\n   \"x\" : 1}", "   ", true}, {"{}", "  ", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto document = document_of(row.text);
    const cdi::detail::JsonLayout layout{document};
    CHECK(layout.unit() == row.unit);
    CHECK(layout.is_spaced() == row.is_spaced);
  }
}

TEST_CASE("Only blanks with a line break have lines") {
  CHECK(cdi::detail::has_lines("\r\n  "));
  CHECK_FALSE(cdi::detail::has_lines(" \t"));
  CHECK_FALSE(cdi::detail::has_lines(""));
}

TEST_CASE("Children that are new begin like their siblings, or one unit deeper than their parent") {
  struct {
    std::string text;
    std::string_view outer;
    std::string lead;
  } const rows[] = {
      {R"({"k":[1]})", "", ""},
      {R"({"k":[ 1]})", "", " "},
      {R"({"k":[]})", "", ""},
      {"{\n \"k\": [\n      1]\n}", "\n ", "\n      "},
      {"{\n \"k\": []\n}", "\n ", "\n  "},
      {"{\n \"k\": [ ]\n}", "\n ", "\n  "},
      {"{\n \"k\": [1]\n}", "\n ", ""},
      {"{\n \"k\": [\n" + std::string(1000, ' ') + "1]\n}", "\n ", "\n  "},
      {"{\n \"k\": [" + std::string(1000, ' ') + "1]\n}", "\n ", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto document = document_of(row.text);
    CHECK(cdi::detail::JsonLayout{document}.lead(member(document, "k"), row.outer) == row.lead);
  }
}

TEST_CASE("A wide indentation is not repeated") {
  const auto document = document_of("{\n" + std::string(5000, ' ') + "\"x\": 1\n}");
  const cdi::detail::JsonLayout layout{document};
  CHECK(layout.lead(document.root(), "") == "\n  ");
  CHECK(layout.lead("\n  ") == "\n    ");
}
