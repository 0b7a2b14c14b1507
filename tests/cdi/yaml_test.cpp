// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/spec.hpp>
#include <cdi/yaml.hpp>

namespace {

using namespace std::string_literals;
using cdi::Document;
using cdi::Errc;
using Kind = cdi::Document::Kind;

std::string place(const cdi::Position& position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

/// A value, with the place of everything in it where asked for: `{a@1:1=1@1:4}@1:1`.
std::string show(const Document::Value& value, bool places) {
  std::string out;
  if (value.kind() == Kind::null) out = "null";
  if (value.kind() == Kind::plain) out = value.text();
  if (value.kind() == Kind::quoted) out = cdi::detail::quoted(value.text());
  if (value.kind() == Kind::list) {
    for (const auto item : value.items()) out += (out.empty() ? "" : " ") + show(item, places);
    out = "[" + out + "]";
  }
  if (value.kind() == Kind::map) {
    for (const auto [key, member] : value.members()) {
      out += (out.empty() ? "" : " ") + show(key, places) + "=" + show(member, places);
    }
    out = "{" + out + "}";
  }
  return places ? out + "@" + place(value.position()) : out;
}

std::string error_of(const cdi::Result<Document>& document) {
  return place(document.error().position) + " " + document.error().message;
}

std::string parsed(std::string_view text, const cdi::Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, {}, limits);
  return document ? show(document->root(), false) : error_of(document);
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
           {"a: null\nb: ~", "{a@1:1=null@1:1 b@2:1=null@2:1}@1:1"},
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

TEST_CASE("a null is found at its key, written or not, or at its dash") {
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
  CHECK(parsed("a: *x") == "1:4 not valid YAML: the referenced anchor is not defined");
  CHECK(parsed("a: &x\n  - *x") == "2:5 an alias stands inside what it names");
  CHECK(parsed("&x {a: [*x]}") == "1:9 an alias stands inside what it names");
}

TEST_CASE("an alias bomb is refused, and quickly") {
  std::string text = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    text += "- &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += "*a" + std::to_string(i - 1) + ",";
    text += "]\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto document = cdi::parse_yaml(text);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
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
           {"a: \"x", "1:6"},
           {"a: @x", "1:4"},
           {"a: `x", "1:4"},
           {"a:\n\tb: 1", "2:3"},
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

TEST_CASE("control characters and other encodings are refused at their byte") {
  for (const auto& row : std::vector<Row>{
           {"a: \x01", "1:4"},
           {"a: 1\nb: \x7f", "2:4"},
           {"a: caf\xe9", "1:7"},       // Latin-1
           {"a: \xc3\xa9\xc3", "1:6"},  // cut off
           {"a: \"\xed\xa0\x80\"", "1:5"},
           {"a: 1 # \x1b[0m", "1:8"},
           {"a: x\0y"s, "1:5"},
       }) {
    CAPTURE(cdi::detail::quoted(row.text));
    const auto document = cdi::parse_yaml(row.text);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(place(document.error().position) == row.expected);
  }
}

TEST_CASE("a key written twice is refused at its second place") {
  CHECK(parsed("a: 1\nb:\n  c: 1\n  'c': 2") ==
        R"(4:3 key "c" is written twice, first in line 3: remove one)");
  CHECK(parsed("{1: a, 01: b}") == "{1=a 01=b}");  // different texts
}

TEST_CASE("limits refuse what goes over them, not what reaches them") {
  CHECK(parsed("[1]", {.bytes = 3}) == "[1]");
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
  CHECK(parsed(std::string(20000, '{')).ends_with("nested more than 64 deep"));
  const std::string line(1 << 20, 'a');
  CHECK(cdi::parse_yaml("a: " + line)->locate("a").column == 4);
  CHECK(cdi::parse_yaml("a: '" + line + "'"));
}

TEST_CASE("text on its way out is quoted where any reader would take it for more than text") {
  struct Quoted {
    std::string text;
    std::string yaml;
  };
  for (const auto& row : std::vector<Quoted>{
           {"gpu0", "gpu0"},     {"/dev/x", "/dev/x"},  {"A=b c", "A=b c"},
           {"0", "\"0\""},       {"007", "\"007\""},    {"1:30", "\"1:30\""},
           {"1.50", "\"1.50\""}, {"yes", "\"yes\""},    {"on", "\"on\""},
           {"Off", "\"Off\""},   {"y", "\"y\""},        {"null", "\"null\""},
           {"True", "\"True\""}, {"~", "\"~\""},        {"", "\"\""},
           {"<<", "\"<<\""},     {"a: b", "\"a: b\""},  {"#x", "\"#x\""},
           {"- x", "\"- x\""},   {"a\nb", "\"a\\nb\""}, {"\xc3\xa9", "\"\xc3\xa9\""},
       }) {
    CAPTURE(row.text);
    const auto out =
        cdi::write_yaml(cdi::NetDevice{.host_interface_name = row.text, .name = "net0"});
    REQUIRE(out);
    CHECK(*out == "---\nhostInterfaceName: " + row.yaml + "\nname: net0\n");
  }
}

/// Whether a text comes back as a value, a key and a list item.
bool comes_back(const std::string& text) {
  const cdi::Spec spec{.version = text,
                       .kind = text,
                       .annotations = {{text, text}},
                       .container_edits = {.env = {text, "A"}}};
  const auto yaml = cdi::write_yaml(spec);
  if (!yaml) return false;
  const auto again = cdi::read_yaml<cdi::Spec>(*yaml);
  return again && *again == spec;
}

TEST_CASE("any text is read back as it was written") {
  for (const std::string& text : std::vector<std::string>{"0",
                                                          "007",
                                                          "yes",
                                                          "on",
                                                          "n",
                                                          "1:30",
                                                          "null",
                                                          "~",
                                                          "",
                                                          " lead",
                                                          "trail ",
                                                          "a: b",
                                                          "a:",
                                                          ":",
                                                          "#x",
                                                          "a #x",
                                                          "- x",
                                                          "-",
                                                          "? x",
                                                          "a\nb",
                                                          "\n",
                                                          "a\n\n  b\n",
                                                          "a\tb",
                                                          "\t",
                                                          "a, b]}",
                                                          "[a",
                                                          "{a",
                                                          "&a",
                                                          "*a",
                                                          "!a",
                                                          "|",
                                                          ">",
                                                          "%a",
                                                          "@a",
                                                          "`a",
                                                          "'a'",
                                                          "\"a\"",
                                                          "\\n",
                                                          "a\\",
                                                          "---",
                                                          "...",
                                                          "---\na",
                                                          "\xc3\xa9",
                                                          "\xe2\x82\xac",
                                                          "\xf0\x9f\x98\x80",
                                                          "\xc2\xa0",
                                                          "\x01\x1b",
                                                          "a\0b"s,
                                                          "true",
                                                          "NaN",
                                                          ".inf",
                                                          "=",
                                                          "<<",
                                                          "2001-01-01",
                                                          std::string(100000, 'a'),
                                                          std::string(1000, ' ')}) {
    CAPTURE(cdi::detail::quoted(text.substr(0, 20)));
    if (text.size() < 10000) CHECK(comes_back(text));
    cdi::NetDevice device{.host_interface_name = text, .name = "net0"};
    const auto again = cdi::read_yaml<cdi::NetDevice>(*cdi::write_yaml(device));
    REQUIRE(again);
    CHECK(*again == device);
  }
}

// Reported: yaml-cpp's emitter writes these raw, or not at all.
TEST_CASE("DEL is read back") {
  CHECK(comes_back("a\x7f"));
}
TEST_CASE("a carriage return is read back") {
  CHECK(comes_back("a\r"));
}
TEST_CASE("noncharacters are read back") {
  CHECK(comes_back("\xef\xbf\xbf"));
}
TEST_CASE("a key of more than 1024 bytes is read back") {
  CHECK(comes_back(std::string(2000, 'a')));
}
TEST_CASE("line breaks of YAML 1.1 are not written without quotes") {
  for (const std::string mark : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    const auto text = cdi::write_yaml(cdi::Spec{.kind = "a" + mark + "b"});
    CHECK(text->find(mark) == std::string::npos);
  }
}

TEST_CASE("a spec is written in document order, in block style") {
  const cdi::Spec spec{
      .version = "0.5.0",
      .kind = "v/c",
      .devices = {{.name = "0",
                   .container_edits = {.device_nodes = {{.path = "/a", .major = -1, .uid = 0}},
                                       .intel_rdt = {{.enable_monitoring = true}}}}}};
  CHECK(*cdi::write_yaml(spec) ==
        "---\ncdiVersion: \"0.5.0\"\nkind: v/c\ndevices:\n  - name: \"0\"\n    containerEdits:\n"
        "      deviceNodes:\n        - path: /a\n          major: -1\n          uid: 0\n"
        "      intelRdt:\n        enableMonitoring: true\n");
  CHECK(cdi::read_yaml<cdi::Spec>(*cdi::write_yaml(spec)).has_value());
}

TEST_CASE("text that is not UTF-8 is not written") {
  const auto text = cdi::write_yaml(cdi::Spec{.kind = "\xff"});
  REQUIRE_FALSE(text);
  CHECK(text.error().code == Errc::invalid);
}

TEST_CASE("an error of reading names file, line and path") {
  const auto spec = cdi::read_yaml<cdi::Spec>("cdiVersion:\n  - 1", "x.yaml");
  REQUIRE_FALSE(spec);
  CHECK(to_string(spec.error()) == "x.yaml:2:3: cdiVersion: expected text, not a list");
}

}  // namespace

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
