// Tests for include/cdi/text/yaml/parse_yaml.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/yaml/parse_yaml.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

using namespace std::string_literals;
using cdi::Document;
using cdi::Errc;
using Kind = cdi::Document::Kind;

TEST_CASE("Block and flow style give the same values") {
  for (const std::string text :
       {"a:\n  - 1\n  - b: x\n    c: []\nd: {}\n", "{a: [1, {b: x, c: []}], d: {}}",
        "a:\n- 1\n- {b: x, c: []}\nd: {}", "{\"a\": [1, {b: x,\n c: [ ]}], # note\n d: {},}"}) {
    CAPTURE(text);
    const auto said = parsed(text);
    CHECK((said == "{a=[1 {b=x c=[]}] d={}}" || said == R"({"a"=[1 {b=x c=[]}] d={}})"));
  }
}

TEST_CASE("Every value is found in its line and column, an unwritten null at its key or dash") {
  for (const auto& row : std::vector<YamlRow>{
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
           {"a:\nname: 1", "{a@1:1=null@1:1 name@2:1=1@2:7}@1:1"},
           {"a:\n# x\n# y\nb: 1", "{a@1:1=null@1:1 b@4:1=1@4:4}@1:1"},
           {"\xEF\xBB\xBFx: 1\na:\nb: 1", "{x@1:1=1@1:4 a@2:1=null@2:1 b@3:1=1@3:4}@1:1"},
       }) {
    CAPTURE(row.text);
    CHECK(parsed(row.text, {}, /*places=*/true) == row.expected);
  }
}

TEST_CASE("Text in blocks keeps or folds its lines") {
  check_parsed({
      {"a: |\n  x\n   y\n\n  z\nb: 1", "{a=\"x\\n y\\n\\nz\\n\" b=1}"},
      {"a: |-\n  x\n", "{a=\"x\"}"},
      {"a: |+\n  x\n\nb: 1", "{a=\"x\\n\\n\" b=1}"},
      {"a: >\n  x\n  y\n\n  z\n", "{a=\"x y\\nz\\n\"}"},
  });
  CHECK(cdi::parse_yaml("a: |\n  x\nb: 1")->locate("b").line == 3);
}

TEST_CASE("Plain scalars keep their text") {
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

TEST_CASE("An alias bomb is refused") {
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

TEST_CASE("Only the first document is read") {
  CHECK(parsed("a: 1\n---\nb: 2") == "{a=1}");
  CHECK(parsed("a: 1\n---\n[unclosed") == "{a=1}");
  CHECK(parsed("{a: 1} text") == "{a=1}");  // as in the reference
  CHECK(parsed("%YAML 1.1\n---\na: 1") == "{a=1}");
}

TEST_CASE("A text without a document is refused") {
  for (const std::string text : {"", " \n\n", "# only a note\n", "\xEF\xBB\xBF", "%YAML 1.2\n",
                                 "---\n---\na: 1", "~", "null\n"}) {
    CAPTURE(text);
    CHECK(parsed(text).ends_with("the text is empty"));
  }
}

TEST_CASE("A text that is not YAML is refused with line and column") {
  check_rejected_at({
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
  });
}

TEST_CASE("Directives and scalars are refused as libyaml does") {
  check_rejected({"%FOO\n---\na: 1", "%YAML 2.0\n---\na: 1", "a: 1\n%b", "a: |2x\n  b",
                  "a: |0\n  b", "a: >\n\tb", "a: %b", "a: \"\\ud800\"", "a: \"\\U00110000\"",
                  "a: \"\\x1\"", "a: \"b\n---\nc\"", "...\na: 1",
                  "\xEF\xBB\xBF\xEF\xBB\xBF"
                  "a: 1"});
}

TEST_CASE("Quotes that are not closed are refused, also before a line end") {
  for (const std::string text : {"a: \"x\n", "a: \"x\nb: 1\n", "a: 'x\n", "a: 'x\nb: 1\n",
                                 "a: \"x\n  ", "a: \"x\n\t", "a: 'x\r\n "}) {
    CAPTURE(text);
    CHECK(parsed(text).find("not valid YAML") != std::string::npos);
  }
}

TEST_CASE("Tabs may be between tokens") {
  CHECK(parsed("a: \tb\t# note\nc: [1,\t2]") == "{a=b c=[1 2]}");
}

TEST_CASE("Control characters and other encodings are refused at their byte, and named") {
  const std::string no_utf8 = " is not UTF-8: save the text as UTF-8";
  const auto control = [](const std::string& code) {
    return "control character U+" + code + ": remove it, or write \\u" + code + " in double quotes";
  };
  for (const auto& row : std::vector<YamlRow>{
           {"a: \x01", "1:4 not valid YAML: " + control("0001")},
           {"a: 1\nb: \x7f", "2:4 not valid YAML: " + control("007F")},
           {"a: caf\xe9", "1:7 not valid YAML: the byte 0xE9" + no_utf8},       // Latin-1
           {"a: \xc3\xa9\xc3", "1:6 not valid YAML: the byte 0xC3" + no_utf8},  // cut off
           {"a: \"\xed\xa0\x80\"", "1:5 not valid YAML: the byte 0xED" + no_utf8},
           {"a: 1 # \x1b[0m", "1:8 not valid YAML: " + control("001B")},
           {"\xfe\xff\0a\0:\0 \xd8\x3d\0b"s,
            "1:4 not valid YAML: an incomplete UTF-16 character: save the text as UTF-8"},
           {"\xff\xfe\xff\xfe"
            "a\0:\0 \0b\0"s,
            "1:1 not valid YAML: a second byte order mark: remove it"},
           {"a: x\0y"s, "1:5 not valid YAML: control character U+0000: remove it"},
       }) {
    CAPTURE(cdi::quoted(row.text));
    const auto document = cdi::parse_yaml(row.text);
    REQUIRE_FALSE(document);
    CHECK(document.error().code == Errc::syntax);
    CHECK(parsed(row.text) == row.expected);
  }
}

TEST_CASE("The first place that the Go reference does not take is noted") {
  CHECK(unportable("%YAML 1.1\n---\na: [b, 'c?', \"\\x80?\"] # \u00a0[?]") == "none");
  CHECK(unportable("a?b: c?d\ne: |\n  [f?]") == "none");
  CHECK(unportable("a: 1 # \xc2\x85\nb: \xe2\x80\xa8") == "1:8 U+0085");
  CHECK(unportable("a: 1 # \xc2\x85\nb: \xc2\x80") == "2:4 U+0080");  // no release takes this
  CHECK(unportable("a: 1\nb: \"\xef\xbf\xbf\"") == "2:5 U+FFFF");
  CHECK(unportable("\xef\xbb\xbf"
                   "a: 1") == "none");
  CHECK(unportable("a: 1\nb: c\xef\xbb\xbf") == "2:5 U+FEFF");
  CHECK(unportable("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc:\n  <<: [*a, {y: 1}]") == "none");
  CHECK(unportable("a: &a {x: 1}\nb:\n  <<: *a\n  x: 2") == "3:3 <<");
  CHECK(unportable("a: &a {x: 1}\nb:\n- {<<: [*a, {x: 1}]}") == "3:3 <<");
  CHECK(unportable("a: {<<: {x: 1}, x: 2}\nb: [c]") == "1:4 <<");
  CHECK(unportable("a: {<<: {x: 1}, x: 2}\nb: [c?]") == "2:6 '?'");  // no release takes this
  CHECK(unportable("a: 1\n---\nb: \xc2\x9f") == "3:4 U+009F");       // the reference reads on
  CHECK(unportable("a: \"b\\/\"") == "1:6 \\/");
  CHECK(unportable("a: ! 5") == "1:4 the");
  CHECK(unportable("a: 1\n...\n\t\n") == "3:1 a");
  CHECK(unportable("a: 1\n---\n\t# b\n") == "3:1 a");
  CHECK(unportable("a: 1\n...\t# b\n# c\n") == "none");
  CHECK(unportable("%YAML 1.2\n---\na: [b?] # \xc2\x80") == "1:1 %YAML");
  CHECK(unportable("a: [b?] # \xc2\x80") == "1:6 '?'");
}

TEST_CASE("A key written twice is refused at its second place") {
  CHECK(parsed("a: 1\nb:\n  c: 1\n  'c': 2") ==
        R"(4:3 key "c" is a duplicate, first used on line 3: remove one)");
  CHECK(parsed("{1: a, 01: b}") == "{1=a 01=b}");  // different texts
}

TEST_CASE("A text may reach a limit, and is refused when it goes over it") {
  CHECK(parsed("[1]", {.bytes = 3}) == "[1]");
  CHECK(parsed("\xfe\xff\x20\xac\x20\xac\x20\xac\x20\xac\xd8\x3d"s, {.bytes = 12})
            .starts_with("0:0 more than"));
  CHECK(parsed("[1] ", {.bytes = 3}) == "0:0 more than 3 bytes");
  CHECK(parsed("- - 1", {.depth = 2}) == "[[1]]");
  CHECK(parsed("- - - 1", {.depth = 2}) == "1:5 more than 2 levels deep");
  CHECK(parsed("a: 1", {.values = 3}) == "{a=1}");
  CHECK(parsed("a: [1]", {.values = 3}) == "1:5 more than 3 values");
  CHECK(parsed("[&a [x], *a, *a]", {.values = 7}) == "[[x] [x] [x]]");
  CHECK(parsed("[&a [x], *a, *a]", {.values = 6}) == "1:14 more than 6 values");
}

TEST_CASE("Aliases do not nest deeper than the limit") {
  CHECK(parsed("- &a [[x]]\n- &b [[*a]]\n- [[*b]]", {.depth = 3}).find("deep") !=
        std::string::npos);
}

TEST_CASE("Deep nesting takes no stack, and a long line no long time") {
  CHECK(parsed(std::string(10000, '[')).ends_with("more than 64 levels deep"));
  std::string maps;
  for (int i = 0; i < 10000; ++i) maps += "{a: ";
  CHECK(parsed(maps).ends_with("more than 64 levels deep"));
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

TEST_CASE("UTF-16 is read by units, of which a byte may look like a CR") {
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

TEST_CASE("A document knows where the text continues after it, and whether a marker is between") {
  const auto rest = [](std::string_view text) {
    const auto document = cdi::parse_yaml(text);
    if (!document) return place(document.error().position) + " refused";
    if (!document->rest()) return std::string{"none"};
    return place(*document->rest()) + (document->has_marker_before_rest() ? " marker" : "");
  };
  CHECK(rest("a: 1\n") == "none");
  CHECK(rest("a: 1\n...\n") == "none");
  CHECK(rest("a: 1\n---\n# note\n") == "none");
  CHECK(rest("a: 1\n---\nb: 2") == "3:1 marker");
  CHECK(rest("a: 1\n--- b") == "2:5 marker");
  CHECK(rest("a: 1\n...\n%YAML 1.2\n---\nb: 2") == "3:1 marker");
  CHECK(rest("{a: 1}\n%YAML 1.1\n---\nb: 2") == "2:1 marker");
  CHECK(rest("{a: 1}\n...\n@") == "3:1 marker");
  CHECK(rest("{a: 1} text") == "1:8");
  // What the reference takes for the beginning of a further document.
  for (const std::string_view text :
       {"}", "]", ",", "text", "b: 2", "\"b\": {\"c\": 2}\n}", "- b", "? b", ": b", "{b:", "&x b",
        "*x", "!t b", "|\n", "-b", "?b", "--- b"}) {
    CAPTURE(text);
    CHECK(rest("{a: 1}\n" + std::string{text}).starts_with(text == "--- b" ? "2:5 marker" : "2:1"));
  }
  CHECK(rest(" a: 1\nb: 2") == "2:1");
  CHECK(rest("  - a\n - b") == "2:2");
}

TEST_CASE("Text behind a document that begins no document is refused where it begins") {
  for (const std::string_view text :
       {"@", "`b", "%b", "\"b", "'b", "&", "*", "& b", "|b", "!!binary b"}) {
    CAPTURE(text);
    CHECK(parsed("{a: 1}\n" + std::string{text}) ==
          "2:1 not valid YAML: unexpected text after the document: remove it, or the bracket that "
          "ends the document too early");
  }
  check_rejected_at(
      {{"{a: 1}- ", "1:7"}, {"{a: 1} - b", "1:8"}, {"{a: 1}? b", "1:7"}, {"[a] @", "1:5"}});
}

TEST_CASE("A text of many anchors, aliases or tags takes no more than linear time") {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += "- &a" + std::to_string(i) + " x\n- *a" + std::to_string(i) + "\n";
  }
  CHECK(cdi::parse_yaml(text));
}

TEST_CASE("A text is taken, and returned as it was when it is refused") {
  std::string good = "a: 1";
  CHECK(cdi::detail::parse_yaml_in_place(good, "f", {}));
  using namespace std::string_literals;
  for (const auto& text : {"[1"s, "\xEF\xBB\xBF[1"s, "\xFF\xFE[\0"s, "{<<: 1}"s}) {
    std::string taken = text;
    CHECK_FALSE(cdi::detail::parse_yaml_in_place(taken, "f", {}));
    CHECK(taken == text);
  }
}

TEST_CASE("Whatever value goes over a limit, the text is refused") {
  const std::string text =
      "? a\n: &x b\n&k c: *x\n'd': [1, {e: , f: g}, h: i, &y , ? j : k, l : , ? m, {n}]\n"
      "o:\n- p\n-\n- - q\n- {r, &z s: t}\n- \"u\"\n- |\n v\n- &w\n  x: y\n- word\n"
      "? |\n z\n: a\naa:\n- ab: ac\n  ad:\nae: []\naf:\n";
  std::uint32_t values = 1;
  for (; !cdi::parse_yaml(text, {}, {.values = values}); ++values) {
    CAPTURE(values);
    REQUIRE(values < 100);
    CHECK(cdi::parse_yaml(text, {}, {.values = values}).error().code == cdi::Errc::limit);
  }
  const auto document = cdi::parse_yaml(text);
  REQUIRE(document);
  CHECK(document->root().count_all() == values);
}

TEST_CASE("UTF-16 that is larger than the limit is refused") {
  const std::string text{"a\0:\0 \0b\0", 8};
  CHECK(cdi::parse_yaml("\xff\xfe" + text));
  CHECK(cdi::parse_yaml("\xff\xfe" + text, {}, {.bytes = 9}).error().code == cdi::Errc::limit);
}

TEST_CASE("A tab, and a tag directive, after a document") {
  CHECK(parsed("a: 1\n...\n\t@") == "{a=1}");  // only the first document is read
  CHECK(parsed("a: 1\n...\n%TAG !e! x\n---\nb") == "{a=1}");
}

}  // namespace
