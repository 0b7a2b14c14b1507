// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/parse_yaml.hpp>

#include "../../shown_document.hpp"

namespace {

using namespace std::string_literals;
using cdi::Document;
using cdi::Errc;
using Kind = cdi::Document::Kind;

std::string error_of(const cdi::Result<Document>& document) {
  return place(document.error().position) + " " + document.error().message;
}

std::string parsed(std::string_view text, const cdi::Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, {}, limits);
  return document ? show(document->root()) : error_of(document);
}

std::string placed(std::string_view text) {
  const auto document = cdi::parse_yaml(text);
  return document ? show(document->root(), true) : error_of(document);
}

struct Row {
  std::string text;
  std::string expected;
};

TEST_CASE("block and flow style say the same") {
  for (const std::string text :
       {"a:\n  - 1\n  - b: x\n    c: []\nd: {}\n", "{a: [1, {b: x, c: []}], d: {}}",
        "a:\n- 1\n- {b: x, c: []}\nd: {}", "{\"a\": [1, {b: x,\n c: [ ]}], # note\n d: {},}"}) {
    CAPTURE(text);
    const auto said = parsed(text);
    CHECK((said == "{a=[1 {b=x c=[]}] d={}}" || said == R"({"a"=[1 {b=x c=[]}] d={}})"));
  }
}

TEST_CASE("every value is found in its line and column") {
  for (const auto& row : std::vector<Row>{
           {"x", "x@1:1"},
           {"a: 1\nbc:   'x'\n", "{a@1:1=1@1:4 bc@2:1=\"x\"@2:7}@1:1"},
           {"# note\n\na:\n  - 1\n  -   b: c", "{a@3:1=[1@4:5 {b@5:7=c@5:10}@5:7]@4:3}@3:1"},
           {"{a: [1,\n 2], b: {}}", "{a@1:2=[1@1:6 2@2:2]@1:5 b@2:6={}@2:9}@1:1"},
           {"a: \"x\n  y\n\n  z\"\nb: 1", "{a@1:1=\"x y\\nz\"@1:4 b@5:1=1@5:4}@1:1"},
           {"a: x\n  y\nb: 1", "{a@1:1=x y@1:4 b@3:1=1@3:4}@1:1"},
           {"a: 1\r\nb: 2\r\n", "{a@1:1=1@1:4 b@2:1=2@2:4}@1:1"},
           {"a: 1\rb: 2\r", "{a@1:1=1@1:4 b@2:1=2@2:4}@1:1"},
           {"a: 1\r\nb: 2\rc: 3\n", "{a@1:1=1@1:4 b@2:1=2@2:4 c@3:1=3@3:4}@1:1"},
           {"\xc3\xa9: 1", "{\xc3\xa9@1:1=1@1:5}@1:1"},  // in bytes
           {"--- # note\na: 1", "{a@2:1=1@2:4}@2:1"},
           {"a: null\nb: ~", "{a@1:1=null@1:4 b@2:1=null@2:4}@1:1"},
           {"a:\nb:\n  -\nc:", "{a@1:1=null@1:1 b@2:1=[null@3:3]@3:3 c@4:1=null@4:1}@1:1"},
       }) {
    CAPTURE(row.text);
    CHECK(placed(row.text) == row.expected);
  }
}

TEST_CASE("text in blocks keeps or folds its lines") {
  for (const auto& row : std::vector<Row>{
           {"a: |\n  x\n   y\n\n  z\nb: 1", "{a=\"x\\n y\\n\\nz\\n\" b=1}"},
           {"a: |-\n  x\n", "{a=\"x\"}"},
           {"a: |+\n  x\n\nb: 1", "{a=\"x\\n\\n\" b=1}"},
           {"a: >\n  x\n  y\n\n  z\n", "{a=\"x y\\nz\\n\"}"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
  CHECK(cdi::parse_yaml("a: |\n  x\nb: 1")->locate("b").line == 3);
}

TEST_CASE("a null that is not written is found at its key or dash") {
  for (const auto& row : std::vector<Row>{
           {"a:\nname: 1", "{a@1:1=null@1:1 name@2:1=1@2:7}@1:1"},
           {"a:\n# x\n# y\nb: 1", "{a@1:1=null@1:1 b@4:1=1@4:4}@1:1"},
           {"\xEF\xBB\xBFx: 1\na:\nb: 1", "{x@1:1=1@1:4 a@2:1=null@2:1 b@3:1=1@3:4}@1:1"},
       }) {
    CAPTURE(row.text);
    CHECK(placed(row.text) == row.expected);
  }
}

TEST_CASE("plain scalars keep their text") {
  for (const std::string text : {"007", "yes", "1.50", "0x1F", "1_000", "1e3", "08", "1:30", "on",
                                 "2001-01-01", "true", "a b", "a:b", "a#b", ".5", "+1", "<"}) {
    CAPTURE(text);
    const auto document = cdi::parse_yaml("a: " + text + "  # note");
    REQUIRE(document);
    const auto value = (*document->root().members().begin()).value;
    CHECK(value.kind() == Kind::plain);
    CHECK(value.text() == text);
  }
}

TEST_CASE("null has five forms, and none in quotes") {
  CHECK(parsed("[null, Null, NULL, ~, nULL]") == "[null null null null nULL]");
  CHECK(parsed("- \n-\n- null\n") == "[null null null]");
  CHECK(parsed("['', \"null\", '~', !!str ~]") == R"(["" "null" "~" "~"])");
}

TEST_CASE("a tag or quotes make text of a number") {
  CHECK(parsed("[!!str 5, '5', \"5\", ! 5, 5]") == R"(["5" "5" "5" "5" 5])");
}

TEST_CASE("anchors and aliases repeat values of every kind") {
  for (const auto& row : std::vector<Row>{
           {"a: &x 1\nb: *x\nc: [*x, *x]", "{a=1 b=1 c=[1 1]}"},
           {"a: &x {b: &y [1]}\nc: *x\nd: *y", "{a={b=[1]} c={b=[1]} d=[1]}"},
           {"- &x 1\n- &x 2\n- *x", "[1 2 2]"},  // an anchor can be used again
           {"&k a: *k", "{a=a}"},
           {"- &n\n- *n", "[null null]"},
           {"a: &x 'q'\n*x : 1", R"({a="q" "q"=1})"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
}

TEST_CASE("an alias that names nothing, or what it stands in, is refused") {
  CHECK(parsed("a: *x") == "1:4 not valid YAML: the anchor \"x\" is not defined");
  CHECK(parsed("a: &x\n  - *x") == "2:5 an alias stands inside what it names");
  CHECK(parsed("&x {a: [*x]}") == "1:9 an alias stands inside what it names");
}

TEST_CASE("an alias bomb is refused") {
  std::string text = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    text += "- &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += "*a" + std::to_string(i - 1) + ",";
    text += "]\n";
  }
  const auto document = cdi::parse_yaml(text);
  REQUIRE_FALSE(document);
  CHECK(document.error().code == Errc::limit);
  CHECK(document.error().position.line > 1);
}

TEST_CASE("merge keys bring members; the map itself and earlier maps count more") {
  for (const auto& row : std::vector<Row>{
           {"- &b {x: 1, y: 2}\n- <<: *b\n  y: 3\n  z: 4", "[{x=1 y=2} {y=3 z=4 x=1}]"},
           {"- &b {x: 1}\n- &c {x: 2, y: 2}\n- {<<: [*b, *c]}", "[{x=1} {x=2 y=2} {x=1 y=2}]"},
           {"{<<: {x: {y: [1]}}, a: 0}", "{a=0 x={y=[1]}}"},
           {"- &b {x: 1}\n- &c {<<: *b, y: 2}\n- {<<: *c, z: 3}",
            "[{x=1} {y=2 x=1} {z=3 y=2 x=1}]"},
           {"\"<<\": 1", R"({"<<"=1})"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
  CHECK(parsed("<<: 1") == "1:5 << must name a map or a list of maps");
  CHECK(parsed("<<: [{}, 1]") == "1:10 << must name a map or a list of maps");
  CHECK(parsed("{<<: {a: 1}, b: 2, b: 3}") ==
        R"(1:20 key "b" is written twice, first in line 1: remove one)");
}

TEST_CASE("an anchor in a map with a merge key keeps its value") {
  // Reported: the anchor's index is that of before the merge; reading past the end is possible.
  CHECK(parsed("m:\n  <<: &x {a: foo}\n  b: bar\nz: *x") == "{m={b=bar a=foo} z={a=foo}}");
  CHECK(parsed("b: &b {p: 1}\nm:\n  <<: *b\n  q: &q [/a]\nz: {q: *q}") ==
        "{b={p=1} m={q=[/a] p=1} z={q=[/a]}}");
}

TEST_CASE("only the first document is read") {
  CHECK(parsed("a: 1\n---\nb: 2") == "{a=1}");
  CHECK(parsed("a: 1\n---\n[unclosed") == "{a=1}");
  CHECK(parsed("{a: 1} garbage") == "{a=1}");  // as in the reference
  CHECK(parsed("%YAML 1.1\n---\na: 1") == "{a=1}");
}

TEST_CASE("a text without a document is refused") {
  for (const std::string text : {"", " \n\n", "# only a note\n", "\xEF\xBB\xBF", "%YAML 1.2\n",
                                 "---\n---\na: 1", "~", "null\n"}) {
    CAPTURE(text);
    CHECK(parsed(text).ends_with("the text is empty"));
  }
}

TEST_CASE("what is no YAML is refused with line and column") {
  for (const auto& row : std::vector<Row>{
           {"[a", "1:1"},
           {"{:", "1:2"},
           {"a: b: c", "1:5"},
           {"a: 1\n b: 2", "2:3"},
           {"a:\n  - 1\n b: 2", "3:2"},
           {"a: \"x", "1:4"},
           {"a: @x", "1:4"},
           {"a: `x", "1:4"},
           {"a:\n\tb: 1", "2:1"},
           {"? [a]\n: b", "1:3"},
           {"null: 1", "1:1"},
           {"a: &x &y b", "1:7"},
       }) {
    CAPTURE(row.text);
    const auto document = cdi::parse_yaml(row.text, "f");
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(document.error().position.file == "f");
    CHECK(place(document.error().position) == row.expected);
  }
}

TEST_CASE("quotes that are not closed are refused, also before a line end") {
  for (const std::string text : {"a: \"x\n", "a: \"x\nb: 1\n", "a: 'x\n", "a: 'x\nb: 1\n",
                                 "a: \"x\n  ", "a: \"x\n\t", "a: 'x\r\n "}) {
    CAPTURE(text);
    CHECK(parsed(text).find("not valid YAML") != std::string::npos);
  }
}

TEST_CASE("what is not closed is found where it was opened") {
  CHECK(parsed("a: 1\nb: 2\nc: {d: 1\n").starts_with("3:4 "));
  CHECK(parsed("a: 1\nb: 2\nc: [1, {d: 1}\n").starts_with("3:4 "));
}

TEST_CASE("tabs may stand between tokens") {
  CHECK(parsed("a: \tb\t# note\nc: [1,\t2]") == "{a=b c=[1 2]}");
}

TEST_CASE("control characters and other encodings are refused at their byte, and named") {
  const std::string no_utf8 = " is not UTF-8: save the text as UTF-8";
  const auto control = [](const std::string& code) {
    return "control character U+" + code + ": remove it, or write \\u" + code + " in double quotes";
  };
  for (const auto& row : std::vector<Row>{
           {"a: \x01", "1:4 not valid YAML: " + control("0001")},
           {"a: 1\nb: \x7f", "2:4 not valid YAML: " + control("007F")},
           {"a: caf\xe9", "1:7 not valid YAML: the byte 0xE9" + no_utf8},       // Latin-1
           {"a: \xc3\xa9\xc3", "1:6 not valid YAML: the byte 0xC3" + no_utf8},  // cut off
           {"a: \"\xed\xa0\x80\"", "1:5 not valid YAML: the byte 0xED" + no_utf8},
           {"a: 1 # \x1b[0m", "1:8 not valid YAML: " + control("001B")},
           {"\xfe\xff\0a\0:\0 \xd8\x3d\0b"s,
            "1:4 not valid YAML: half a character of UTF-16: save the text as UTF-8"},
           {"a: x\0y"s, "1:5 not valid YAML: control character U+0000: remove it"},
       }) {
    CAPTURE(cdi::detail::quoted(row.text));
    const auto document = cdi::parse_yaml(row.text);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(place(document.error().position) + " " + document.error().message == row.expected);
  }
}

TEST_CASE("what the Go reference does not take is noted, at its first place") {
  const auto noted = [](std::string_view text) {
    const auto document = cdi::parse_yaml(text);
    if (!document) return "error: " + document.error().message;
    const auto found = document->unportable();
    return found ? place(found->position) + " " + found->reason.substr(0, found->reason.find(' '))
                 : "none"s;
  };
  CHECK(noted("%YAML 1.1\n---\na: [b, 'c?', \"\\x80?\"] # \u00a0[?]") == "none");
  CHECK(noted("a?b: c?d\ne: |\n  [f?]") == "none");
  CHECK(noted("%TAG !e! x\n%YAML 1.2\n---\na: 1") == "2:1 %YAML");
  CHECK(noted("%YAML 1.0\n---\na: 1") == "1:1 %YAML");
  CHECK(noted("a: 1 # \xc2\x85\nb: \xc2\x80") == "1:8 U+0085");
  CHECK(noted("a: 1\nb: \"\xef\xbf\xbf\"") == "2:5 U+FFFF");
  CHECK(noted("a: 1\n---\nb: \xc2\x9f") == "3:4 U+009F");  // the reference reads on
  CHECK(noted("a: [b,\n c?d, e?]") == "2:3 '?'");
  CHECK(noted("a: {b: c\n  ?d}") == "2:3 '?'");
  CHECK(noted("a: !b:c/d%20 e\nf: !<tag:x> g\nh: !!str i") == "none");
  CHECK(noted("a: !b>c d") == "1:4 a");
  CHECK(noted("a: !b%2x d") == "1:4 a");
  CHECK(noted("a: {!b\n c: d}") == "2:2 a");
  CHECK(noted("a: {? !b\n c: d, e: !b\n f, !b g: h, &i\n j}") == "none");
  CHECK(noted("a: \"b\\/\"") == "1:6 \\/");
  CHECK(noted("%YAML 1.2\n---\na: [b?] # \xc2\x80") == "1:1 %YAML");
  CHECK(noted("a: [b?] # \xc2\x80") == "1:6 '?'");
}

TEST_CASE("a key written twice is refused at its second place") {
  CHECK(parsed("a: 1\nb:\n  c: 1\n  'c': 2") ==
        R"(4:3 key "c" is written twice, first in line 3: remove one)");
  CHECK(parsed("{1: a, 01: b}") == "{1=a 01=b}");  // different texts
}

TEST_CASE("limits refuse what goes over them, not what reaches them") {
  CHECK(parsed("[1]", {.bytes = 3}) == "[1]");
  CHECK(parsed("\xfe\xff\x20\xac\x20\xac\x20\xac\x20\xac\xd8\x3d"s, {.bytes = 12})
            .starts_with("0:0 more than"));
  CHECK(parsed("[1] ", {.bytes = 3}) == "0:0 more than 3 bytes");
  CHECK(parsed("- - 1", {.depth = 2}) == "[[1]]");
  CHECK(parsed("- - - 1", {.depth = 2}) == "1:5 nested more than 2 deep");
  CHECK(parsed("a: 1", {.values = 3}) == "{a=1}");
  CHECK(parsed("a: [1]", {.values = 3}) == "1:5 more than 3 values");
  CHECK(parsed("[&a [x], *a, *a]", {.values = 7}) == "[[x] [x] [x]]");
  CHECK(parsed("[&a [x], *a, *a]", {.values = 6}) == "1:14 more than 6 values");
}

TEST_CASE("aliases do not nest deeper than the limit") {
  CHECK(parsed("- &a [[x]]\n- &b [[*a]]\n- [[*b]]", {.depth = 3}).find("deep") !=
        std::string::npos);
}

TEST_CASE("nesting costs no stack, a long line no patience") {
  CHECK(parsed(std::string(10000, '[')).ends_with("nested more than 64 deep"));
  std::string maps;
  for (int i = 0; i < 10000; ++i) maps += "{a: ";
  CHECK(parsed(maps).ends_with("nested more than 64 deep"));
  const std::string line(1 << 20, 'a');
  CHECK(cdi::parse_yaml("a: " + line)->locate("a").column == 4);
  CHECK(cdi::parse_yaml("a: '" + line + "'"));
}

TEST_CASE("Lines that end in CR alone, CR LF or LF are the same lines, wherever they end") {
  const std::string text =
      "# note\nk: plain\n  goes on\nq: \"in\n  quotes\"\nl: |\n  one\n\n  two\nlast: [a,\n  b]\n";
  const auto with = [&](std::string_view end) {
    std::string out;
    for (const char c : text) c == '\n' ? out.append(end) : out.append(1, c);
    return parsed(out);
  };
  CHECK(with("\r\n") == parsed(text));
  CHECK(with("\r") == parsed(text));
  CHECK(parsed("a: 1\r\n\rb: 2") == parsed("a: 1\n\nb: 2"));
  CHECK(parsed("a: 1\r\r\nb: 2\r") == parsed("a: 1\n\nb: 2\n"));
}

TEST_CASE("UTF-16 is read as it is: a byte of a CR is part of other characters too") {
  const std::u16string text = u"\ufeffk: \u010dech \u0d05\r\nl: |\r\n  one\r\n  two\r\n";
  for (const bool big : {false, true}) {
    std::string bytes;
    for (const char16_t unit : text) {
      const char low = static_cast<char>(unit & 0xff);
      const char high = static_cast<char>(unit >> 8);
      bytes.append(1, big ? high : low).append(1, big ? low : high);
    }
    const auto document = cdi::parse_yaml(bytes, "f");
    REQUIRE(document);
    std::string values;
    for (const auto member : document->root().members())
      values.append(member.value.text()).append("|");
    CHECK(values ==
          "\xc4\x8d"
          "ech \xe0\xb4\x85|one\ntwo\n|");
  }
}

TEST_CASE("a key without a colon is refused, above all where a text is cut off") {
  for (const auto& row : std::vector<Row>{
           {"a: 1\npermissions", "2:1"},  // reported: it was a null
           {"a: 1\nb", "2:1"},
           {"a:\n  b: 1\n  c", "3:3"},
           {"- a: 1\n  b", "2:3"},
           {"a: 1\n\"b\"", "2:1"},
           {"a: 1\n[b]", "2:1"},
           {"a:\n- 1\nb", "3:1"},
           {"- 1\nb", "2:1"},
       }) {
    CAPTURE(row.text);
    const auto document = cdi::parse_yaml(row.text);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(place(document.error().position) == row.expected);
  }
  CHECK(parsed("a: 1\nkind:v.com/c") == "2:1 not valid YAML: write a blank after ':'");
  CHECK(parsed("env:\n-A=1") == "2:1 not valid YAML: write a blank after '-'");
  CHECK(parsed("type: \"").starts_with("1:7 "));  // reported: it was a text
  CHECK(parsed("type: '").starts_with("1:7 "));
}

TEST_CASE("blocks begin and end where libyaml has them") {
  for (const auto& row : std::vector<Row>{
           {"a:\n- b\n- c\nd: 1", "{a=[b c] d=1}"},
           {"a:\n- b:\n  - c\n- d", "{a=[{b=[c]} d]}"},
           {"- - a\n  - b\n- c", "[[a b] c]"},
           {"- a: 1\n  b: 2\n-\n  c: 3", "[{a=1 b=2} {c=3}]"},
           {"-   a: 1\n    b: 2", "[{a=1 b=2}]"},
           {"a:\n    b:\n     c: 1\n    d: 2", "{a={b={c=1} d=2}}"},
           {"a:\n  - b\n\n# note\n  - c\n", "{a=[b c]}"},
           {"? a\n: b\n? c\nd: e", "{a=b c=null d=e}"},
           {"? a\n: - b\n  - c", "{a=[b c]}"},
           {"a: &x\n  b: 1\nc: *x", "{a={b=1} c={b=1}}"},
           {"a: &x\nc: *x", "{a=null c=null}"},
           {"&m\n&k a: 1\nb: *k", "{a=1 b=a}"},
           {"- &m a: 1\n- *m", "[{a=1} a]"},
           {"a: 1\n&k b: 2\n!!str c: *k", "{a=1 b=2 \"c\"=b}"},
           {"- !!map\n  a: 1\n- !t [b]", "[{a=1} [b]]"},
           {"--- {a: 1}", "{a=1}"},
           {"--- |\n x\n", "\"x\\n\""},
           {"a: 1\n  \t\nb: 2\n", "{a=1 b=2}"},  // blanks that an editor left
           {"k:\n  a: 1\n   \t\n  b: 2\n", "{k={a=1 b=2}}"},
           {"a: 1\n \t# note\nb: 2\n", "{a=1 b=2}"},
           {"? |\n  a\n: 1\n", "{\"a\\n\"=1}"},
           {"a: !<tag:yaml.org,2002:str> 0", "{a=\"0\"}"},
           {"a:\n|\n b\n", "{a=\"b\\n\"}"},
           {"%TAG !e! tag:x\n---\na: !e!f 1", "{a=1}"},
           {"a: b\n  - c", "{a=b - c}"},
           {"a: [b,\nc\n]\nd: 1", "{a=[b c] d=1}"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
}

TEST_CASE("brackets and braces hold pairs, nulls and trailing commas") {
  for (const auto& row : std::vector<Row>{
           {"[a: 1, b: [c: 2]]", "[{a=1} {b=[{c=2}]}]"},
           {"{a, b: , c: 1}", "{a=null b=null c=1}"},
           {"{\"a\":1, 'b':2}", R"({"a"=1 "b"=2})"},
           {"{a:1}", "{a:1=null}"},
           {"[a, b, ]", "[a b]"},
           {"[a b,\n  c\n  d]", "[a b c d]"},
           {"{? a : b}", "{a=b}"},
           {"[? a : b, ? c]", "[{a=b} {c=null}]"},
           {"[[], {}, [{}]]", "[[] {} [{}]]"},
           {"[&x a, *x , !!str 1]", "[a a \"1\"]"},
           {"[-1, -a, a-]", "[-1 -a a-]"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
}

TEST_CASE("what libyaml refuses is refused") {
  for (const std::string text : {"a: - b",
                                 "a: 1\n- b",
                                 "- a\nb: 1",
                                 "- 'a'\n b",
                                 "a: \"x\" y",
                                 "a: 'x'y: 1",
                                 "[a, , b]",
                                 "{, a}",
                                 "[,]",
                                 "[a]: b",
                                 "{a: b}: c",
                                 "{[a]: b}",
                                 "[a b: c: d]",
                                 "{a: b: c}",
                                 "[a}",
                                 "{a\n: b}",
                                 "a\nb: c",
                                 "? {a: b}\n: c",
                                 ": a",
                                 "a: &x &y b",
                                 "a: &x *x",
                                 "&x - a",
                                 "a: *",
                                 "a: & b",
                                 "a: !!binary eA==",
                                 "a: !e!f 1",
                                 "%FOO\n---\na: 1",
                                 "%YAML 2.0\n---\na: 1",
                                 "a: 1\n%b",
                                 "a: |2x\n  b",
                                 "a: |0\n  b",
                                 "a: >\n\tb",
                                 "-\ta",
                                 "a:\n \tb: 1",
                                 "a: b\n\t c: d",
                                 "[- a]",
                                 "{- a}",
                                 "a: %b",
                                 "a: \"\\ud800\"",
                                 "a: \"\\U00110000\"",
                                 "a: \"\\x1\"",
                                 "a: \"b\n---\nc\"",
                                 "[a\n--- b]",
                                 "x: 1\n\"a\":1",
                                 "&a\n&b c",
                                 "a: 1\n&x",
                                 "...\na: 1",
                                 "?\ta",
                                 "{? }",
                                 "[a: ? b]",
                                 "[a: ? b : c]",
                                 "{a: ? b}",
                                 "[? ? a]",
                                 "{? ? a}",
                                 "[!!str ? a]",
                                 "[&x ? a : b]",
                                 "a: 1\n&x\nb: 2",
                                 "\xEF\xBB\xBF\xEF\xBB\xBF"
                                 "a: 1"}) {
    CAPTURE(text);
    const auto document = cdi::parse_yaml(text);
    CHECK_FALSE(document);
    if (!document) CHECK(document.error().code == Errc::syntax);
  }
}

TEST_CASE("a key is as long as libyaml allows") {
  CHECK(cdi::parse_yaml(std::string(1023, 'k') + ": v"));
  CHECK_FALSE(cdi::parse_yaml(std::string(1025, 'k') + ": v"));
  CHECK(parsed("? " + std::string(2000, 'k') + "\n: v").ends_with("=v}"));
}

TEST_CASE("a document tells where the text goes on after it") {
  const auto rest = [](std::string_view text) {
    const auto document = cdi::parse_yaml(text);
    return document && document->rest() ? place(*document->rest()) : "none";
  };
  CHECK(rest("a: 1\n") == "none");
  CHECK(rest("a: 1\n...\n") == "none");
  CHECK(rest("a: 1\n---\n# note\n") == "none");
  CHECK(rest("a: 1\n---\nb: 2") == "3:1");
  CHECK(rest("a: 1\n--- b") == "2:5");
  CHECK(rest("a: 1\n...\n%YAML 1.2\n---\nb: 2") == "3:1");
  CHECK(rest("{a: 1} garbage") == "1:8");
}

TEST_CASE("a text of many anchors, aliases or tags takes no more than linear time") {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += "- &a" + std::to_string(i) + " x\n- *a" + std::to_string(i) + "\n";
  }
  CHECK(cdi::parse_yaml(text));
}

}  // namespace
