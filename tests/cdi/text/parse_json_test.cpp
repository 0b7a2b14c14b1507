// Tests for include/cdi/text/parse_json.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/parse_json.hpp>

#include "../../support/shown_document.hpp"

namespace {

using namespace std::string_literals;
using cdi::Document;
using cdi::Errc;
using Kind = cdi::Document::Kind;

/// A value and the place of everything in it: `{"a"@1:2=1@1:7 }@1:1`.
std::string show_all(const Document::Value& value) {
  std::string out;
  if (value.kind() == Kind::null) out = "null";
  if (value.kind() == Kind::plain) out = value.text();
  if (value.kind() == Kind::quoted) out = "\"" + std::string{value.text()} + "\"";
  if (value.kind() == Kind::list) {
    for (const auto item : value.items()) out += show_all(item) + " ";
    out = "[" + out + "]";
  }
  if (value.kind() == Kind::map) {
    for (const auto [key, member] : value.members())
      out += show_all(key) + "=" + show_all(member) + " ";
    out = "{" + out + "}";
  }
  return out + "@" + place(value.position());
}

std::string parsed_json(std::string_view text, const cdi::Limits& limits = {}) {
  const auto document = cdi::parse_json(text, {}, limits);
  if (document) return show_all(document->root());
  return place(document.error().position) + " " + cdi::detail::advised_message(document.error());
}

struct Row {
  std::string text;
  std::string expected;
};

TEST_CASE("Every kind of token is found in its line and column") {
  for (const auto& row : std::vector<Row>{
           {"0", "0@1:1"},
           {" \t\r\n null ", "null@2:2"},
           {R"([true,false,-1.50E+3,"x",{},[]])",
            R"([true@1:2 false@1:7 -1.50E+3@1:13 "x"@1:22 {}@1:26 []@1:29 ]@1:1)"},
           {"{\r\n  \"a\" :\r\n\t1 ,\r\n  \"b\":[ 2\r\n]\r\n}\r\n",
            R"({"a"@2:3=1@3:2 "b"@4:3=[2@4:9 ]@4:7 }@1:1)"},
           {R"(["\"\\",1])", R"([""\"@1:2 1@1:9 ]@1:1)"},
           {R"(["a\nb\u000a",1])", "[\"a\nb\n\"@1:2 1@1:15 ]@1:1"},
           {"[\"\xc3\xa9,]}\",1]", "[\"\xc3\xa9,]}\"@1:2 1@1:10 ]@1:1"},  // in bytes
           {R"({"":{"":0}})", R"({""@1:2={""@1:6=0@1:9 }@1:5 }@1:1)"},
           {"[-0,1e5]", "[-0@1:2 1e5@1:5 ]@1:1"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed_json(row.text) == row.expected);
  }
}

TEST_CASE("A byte order mark is ignored") {
  const auto document = cdi::parse_json("\xEF\xBB\xBF\n {\"a\": 1}");
  REQUIRE(document);
  CHECK(show_all(document->root()) == R"({"a"@2:3=1@2:8 }@2:2)");
}

TEST_CASE("Escapes are decoded, surrogate pairs to one character") {
  struct Escape {
    std::string text;
    std::string decoded;
  };
  for (const auto& row : std::vector<Escape>{
           {R"("\/\b\f\n\r\t\"\\")", "/\b\f\n\r\t\"\\"},
           {R"("\u0041\u00e9\u20AC")", "A\xc3\xa9\xe2\x82\xac"},
           {R"("\ud83d\ude00")", "\xf0\x9f\x98\x80"},
           {R"("\ud800\udc00\udbff\udfff")", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
           {R"("\ud7ff\ue000")", "\xed\x9f\xbf\xee\x80\x80"},
           {R"("\u0000")", "\0"s},
       }) {
    CAPTURE(row.text);
    const auto document = cdi::parse_json(row.text);
    REQUIRE(document);
    CHECK(document->root().text() == row.decoded);
  }
}

TEST_CASE("Text that RFC 8259 does not allow is refused at its place") {
  for (const auto& row : std::vector<Row>{
           {"", "1:1"},
           {" \n ", "1:1"},
           {"{} x", "1:4"},
           {"{}\n\n  []", "3:3"},
           {"[1,]", "1:3"},
           {"[1 2]", "1:4"},
           {"{\"a\":1,}", "1:7"},
           {"{\"a\" 1}", "1:6"},
           {"{a: 1}", "1:2"},
           {"{1: 1}", "1:2"},
           {"{\n'a'", "2:1"},
           {"[1,\n2", "2:2"},
           {"{\"a\":\r\n  tru}", "2:6"},
           {"01", "1:2"},
           {"[+1]", "1:2"},
           {"[.5]", "1:2"},
           {"[1.]", "1:4"},
           {"[0x1F]", "1:3"},
           {"[NaN]", "1:2"},
           {"[\"a\nb\"]", "1:4"},
           {"\"\t\"", "1:2"},
           {R"("\x")", "1:2"},
           {R"("\u12G4")", "1:2"},
           {R"("\ud83d")", "1:2"},
           {R"("\ud83dx")", "1:2"},
           {R"("\ud83d\n")", "1:2"},
           {R"("\ud83d\u12G4")", "1:2"},
           {R"("\ud83d\udbff")", "1:2"},
           {R"("\ud83d\ue000")", "1:2"},
           {"tru", "1:4"},
           {"-", "1:2"},
           {R"("\ude00")", "1:2"},
           {"\"\xff\"", "1:2"},
           {"\"\xc0\x80\"", "1:2"},
           {"\"abc", "1:1"},
           {"/* no */ 1", "1:1"},
           {"# no", "1:1"},
           {"\xEF\xBB\xBF", "1:1"},  // the mark has no column
           {"\xEF\xBB", "1:1"},
           {"]", "1:1"},
       }) {
    CAPTURE(row.text);
    const auto document = cdi::parse_json(row.text, "f");
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    const bool empty = document.error().message == "the text is empty";
    CHECK((empty || document.error().message.starts_with("not valid JSON: ")));
    CHECK(document.error().position.file == "f");
    CHECK(place(document.error().position) == row.expected);
  }
}

TEST_CASE("A message says what is missing, and how to write it") {
  CHECK(parsed_json("tru") == "1:4 not valid JSON: the text ends too early");
  CHECK(parsed_json("[tru").find("the value that begins at line 1, column 1 is not closed") !=
        std::string::npos);
  CHECK(parsed_json("['a']").ends_with(": use double quotes"));
  CHECK(parsed_json("[1e-]") == "1:5 not valid JSON: unexpected \"]\", expected a digit");
  CHECK(parsed_json("[1e-5]") == "[1e-5@1:2 ]@1:1");
}

TEST_CASE("NUL does not end the text") {
  CHECK_FALSE(cdi::parse_json("{}\0garbage"s));
}

TEST_CASE("A number of any size keeps its text") {
  for (const std::string number : {"1e999", "-0", "123456789012345678901234567890", "1E+2"}) {
    CHECK(parsed_json(number) == number + "@1:1");
  }
}

TEST_CASE("A second byte order mark is refused") {  // reported: it was read out of bounds
  for (const std::string rest : {"{}", "{\"cdiVersion\":\"0.6.0\"}", ""}) {
    const auto document = cdi::parse_json("\xEF\xBB\xBF\xEF\xBB\xBF" + rest);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(place(document.error().position) == "1:1");
  }
}

TEST_CASE("Every text that is cut off is refused") {
  const std::string text = R"({"a": [1, -2.5e+3, true, null, "x\u00e9\n"], "b": {"c": {}}})";
  CHECK(cdi::parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(cdi::parse_json(text.substr(0, size)));
  }
}

TEST_CASE("A message does not repeat the whole text") {
  CHECK(parsed_json("\"" + std::string(100000, 'a')).size() < 500);
}

TEST_CASE("A message is UTF-8 even if the text is not") {
  CHECK(cdi::detail::is_utf8(parsed_json("\"\xff\"")));
}

TEST_CASE("A key written twice is refused at any depth") {
  for (const auto& row : std::vector<Row>{
           {"{\"a\":1,\n \"a\":2}",
            R"(2:2 key "a" is a duplicate, first used on line 1: remove one)"},
           {"[{\"b\":{\"a\":1,\n\"x\":0,\n\"\\u0061\":2}}]",
            R"(3:1 key "a" is a duplicate, first used on line 1: remove one)"},
           {"{\"\":1, \"\":2}", R"(1:8 key "" is a duplicate, first used on line 1: remove one)"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed_json(row.text) == row.expected);
  }
  CHECK(parsed_json(R"({"a":{"a":[{"a":1}]},"A":2})").front() == '{');
  CHECK(parsed_json(R"({"<<":1})") == R"({"<<"@1:2=1@1:7 }@1:1)");
}

TEST_CASE("JSON that the Go reference does not read as YAML is noted") {
  const auto unportable = [](std::string_view text) {
    const auto document = cdi::parse_json(text);
    REQUIRE(document);
    return document->unportable() ? place(document->unportable()->position) : "none";
  };
  CHECK(unportable("\n  {\t\"a\"\t:\n\t1\n\t,\n\t\"b\" : 2\n\t}\t\n  ") == "none");
  CHECK(unportable("{\"a\": 1, \"b\" \r\n:1}") == "1:13");
  CHECK(unportable("{\"a\"\n:1}") == "1:5");
  CHECK(unportable("\t{}") == "1:1");
  CHECK(unportable("\xef\xbb\xbf[]") == "none");
  CHECK(unportable("[\"a\xef\xbb\xbf\"]") == "1:4");
  CHECK(unportable("[\"\x7f\", \"\xef\xbb\xbf\"]") == "1:3");
  CHECK(unportable("[\"\xef\xbb\xbf\", \"\x7f\", \"\xc2\x80\"]") == "1:10");  // which is rejected
  CHECK(unportable("\"\x7f\"") == "1:2");
  CHECK(unportable("[\"\\/\"]") == "1:3");
  CHECK(unportable("[\"\\n\"]") == "none");
  CHECK(unportable(" \t\n{}") == "1:2");
  CHECK(unportable("{}\n \t\n") == "2:2");
  for (const std::string_view letter : {"k", "\xc3\xa9"}) {
    std::string key = "\"";
    for (int i = 0; i < 1022; ++i) key.append(letter);
    CHECK(unportable("{" + key + "\":1}") == "none");
    CHECK(unportable("{" + key + "\" :1}") == "1:2");  // up to the colon
    CHECK(unportable("{" + key.append(letter) + "\":1}") == "1:2");
  }
}

TEST_CASE("A text may reach a limit, and is refused when it goes over it") {
  CHECK(parsed_json("[1,2]", {.bytes = 5}).front() == '[');
  CHECK(parsed_json("[1,2] ", {.bytes = 5}) == "0:0 more than 5 bytes");
  CHECK(parsed_json("[[1]]", {.depth = 2}).front() == '[');
  CHECK(parsed_json("[[[]]]", {.depth = 2}) == "1:3 more than 2 levels deep");
  CHECK(parsed_json("{\"a\":1}", {.values = 3}).front() == '{');
  CHECK(parsed_json("{\"a\":[1]}", {.values = 3}) == "1:7 more than 3 values");
  for (const auto& limits :
       {cdi::Limits{.bytes = 1}, cdi::Limits{.depth = 1}, cdi::Limits{.values = 1}}) {
    CHECK(cdi::parse_json("[[]]", {}, limits).error().code == Errc::limit);
  }
}

TEST_CASE("Ten thousand nested brackets are refused, and take no stack") {
  CHECK(parsed_json(std::string(10000, '[')) == "1:65 more than 64 levels deep");
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  CHECK(cdi::parse_json(deep, {}, {.depth = 1000000}));
}

TEST_CASE("A text is taken, and returned as it was when it is refused") {
  std::string good = R"({"a":1})";
  CHECK(cdi::detail::parse_json_in_place(good, "f", {}));
  for (const std::string text : {"[1,]", "\xEF\xBB\xBF[1,]", "", "[1,2]"}) {
    std::string taken = text;
    const auto document = cdi::detail::parse_json_in_place(taken, "f", {.bytes = 8, .values = 2});
    CHECK_FALSE(document);
    CHECK(taken == text);
  }
}

}  // namespace
