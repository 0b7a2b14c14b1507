// TOML texts, valid and not, and types that are read from them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/base/toml.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/result.hpp>

namespace {

using Texts = std::vector<std::string>;

struct Part {
  std::string path{};
  bool optional = false;

  static constexpr void fields(auto& list) {
    list("path", &Part::path, cdi::required);
    list("optional", &Part::optional);
  }
};

struct Example {
  std::string name = "usual";
  Texts texts{"a"};
  std::optional<std::int64_t> number{};
  cdi::AnyValue any{};
  std::vector<Part> parts{};
  std::map<std::string, Texts> named{};

  static constexpr void fields(auto& list) {
    list("name", &Example::name);
    list("texts", &Example::texts);
    list("number", &Example::number);
    list("any", &Example::any);
    list("parts", &Example::parts);
    list("named", &Example::named);
  }
};

Example example(std::string_view text) {
  Example out;
  const auto document = tools::read_toml(text, "f.toml", out);
  REQUIRE_MESSAGE(document, (document ? "" : to_string(document.error())));
  return out;
}

std::string fault_in(std::string_view text) {
  Example out;
  const auto document = tools::read_toml(text, "f.toml", out);
  return document ? "" : to_string(document.error());
}

/// Why a text is refused, with its place; empty when it is not.
std::string refusal(std::string_view text) {
  const auto table = tools::toml_table(text, "f.toml");
  return table ? "" : to_string(table.error());
}

std::string repeated(std::size_t times, std::string_view part) {
  std::string out;
  while (times-- > 0) out.append(part);
  return out;
}

}  // namespace

TEST_CASE("members that a text lacks stay") {
  CHECK(example("").name == "usual");
  CHECK(example("name = 'x'").texts == Texts{"a"});
  CHECK(example("texts = []").texts.empty());
}

TEST_CASE("one value may be in the place of a list, and a text in that of a table") {
  CHECK(example("texts = 'b'").texts == Texts{"b"});
  const auto read = example("parts = ['/a', {path = '/b', optional = true}]");
  REQUIRE(read.parts.size() == 2);
  CHECK(read.parts[0].path == "/a");
  CHECK_FALSE(read.parts[0].optional);
  CHECK(read.parts[1].optional);
  CHECK(example("parts.path = '/c'").parts[0].path == "/c");
  CHECK(example("[[parts]]\npath = '/d'\n[[parts]]\npath = '/e'").parts[1].path == "/e");
  CHECK(example("[named]\n'z.z' = ['1', '2']\nx = 'y'").named ==
        std::map<std::string, Texts>{{"x", {"y"}}, {"z.z", {"1", "2"}}});
}

TEST_CASE("numbers, times and booleans of any spelling") {
  CHECK(example("number = 0x1_0").number == 16);
  CHECK(example("any = +2.50").any.text == "2.5");
  CHECK(example("any = 2.0").any.text == "2.0");
  CHECK(example("any = 1e3").any.kind == cdi::ValueKind::number);
  CHECK(example("any = true").any.kind == cdi::ValueKind::boolean);
  CHECK(example("any = 1979-05-27").any.text == "1979-05-27");
}

TEST_CASE("faults have their place and advice") {
  CHECK(fault_in("\n nmae = 1") ==
        "f.toml:2:2: nmae: this member does not exist: did you mean name?");
  CHECK(fault_in("NAME = 'x'").find("did you mean name?") != std::string::npos);
  CHECK(fault_in("other = 1").ends_with("use one of name, texts, number, any, parts, named"));
  CHECK(fault_in("parts = {path = '/a', pat = 1}").starts_with("f.toml:1:23: parts[0].pat: "));
  CHECK(fault_in("parts = [{}]").starts_with("f.toml:1:10: parts[0].path: "));
  CHECK(fault_in("name = 1") == "f.toml:1:8: name: expected text, not 1: put it in quotes");
  CHECK(fault_in("name = ''") == "f.toml:1:8: name: must not be empty or contain NUL");
  CHECK(fault_in("texts = ['x', \"a\\u0000\"]").starts_with("f.toml:1:15: texts[1]: must not be"));
  CHECK(fault_in("number = 1.5").starts_with("f.toml:1:10: number: expected an integer"));
  CHECK(fault_in("named.\"\u20ac\" = ['\u20ac', 1]") ==
        "f.toml:1:23: named.\u20ac[1]: expected text, not 1: put it in quotes");  // in bytes
  CHECK(fault_in("number = 'x'\nname = 1").starts_with("f.toml:1:"));
  CHECK(fault_in("name = \n").starts_with("f.toml:1:8: is not valid TOML"));
}

TEST_CASE("the place of a member") {
  Example out;
  const auto document = tools::read_toml("name = 'x'\n[[parts]]\npath = '/a'\n", "f", out);
  REQUIRE(document);
  const auto error = tools::member_error(*document, "parts[0].path", "is wrong", "change it");
  CHECK(to_string(error) == "f:3:8: parts[0].path: is wrong: change it");
}

TEST_CASE("text that is not TOML is refused, with its place") {
  CHECK(refusal("a = 1\n  b = ]\n").starts_with("f.toml:2:7: is not valid TOML"));
  CHECK(refusal("a = 1\n[a]\n").starts_with("f.toml:2:"));
  CHECK(refusal("a = 1\na = 2\n").starts_with("f.toml:2:"));
  for (const std::string odd :
       {"=",     "a",   "a =",   "a = [1",   "a = ]",   "a = \"x",  "a = 'x\n'",   "[a",
        "[a]]x", "[]",  "[[a]",  "a..b = 1", ".a = 1",  "\xff\xfe", "a = \"\"\"x", "}",
        "\"",    "'''", "a = {", "a = \"\\", "a = two", "[[[a]]]",  "[@a]",        "[ = ]"}) {
    CAPTURE(odd);
    CHECK(refusal("before = 1\n" + odd + "\n").starts_with("f.toml:"));
    CHECK(refusal(odd).starts_with("f.toml:1:"));
  }
}

TEST_CASE("a message about a long name is not cut inside a character") {
  for (const std::string_view before : {"", "a", "ab"}) {
    const auto name = std::string{before} + repeated(200, "\u20ac");
    const auto message = refusal("x = 1\n[x.\"" + name + "\"]\n");
    CHECK(message.find("cannot redefine existing integer") != std::string::npos);
    CHECK(cdi::detail::is_utf8(message));
  }
}

TEST_CASE("values nested too deep are refused, in any form") {
  const std::size_t many = 250000;  // as much as is read of a file
  CHECK(refusal("a = " + repeated(many, "[")).starts_with("f.toml:1:"));
  CHECK(refusal("a = " + repeated(many, "{a=")).starts_with("f.toml:1:"));
  CHECK(
      refusal("b = 1\n[" + repeated(many, "a.") + "a]\n") ==
      "f.toml:2:259: has a line with more than 128 dots, so its settings are unknown: shorten the "
      "key, or write the value on several lines");
  CHECK(refusal(repeated(many, "a.") + "a = 1").starts_with("f.toml:1:258: has a line"));
  CHECK(refusal("a = " + repeated(20, "[\n") + repeated(20, "]\n")).starts_with("f.toml:"));
  // The deepest that is read.
  const auto key = repeated(128, "a.") + "a";
  std::string deepest = "[" + key + "]\n";
  for (int i = 0; i < 7; ++i) deepest += key + " = [\n{";
  deepest += "a = 1";
  for (int i = 0; i < 7; ++i) deepest += "}\n]";
  CHECK(refusal(deepest) == "");
}

TEST_CASE("dots in comments and strings are no keys") {
  const auto dots = repeated(200, ".");
  for (const auto& text :
       {"# " + dots + "\nversion = 2\n", "version = 2  # it's \"" + dots, "a = \"" + dots + "\"",
        "a = '" + dots + "\\'", "a = \"\\\"'#" + dots + "\"", "\"" + dots + "\" = 1",
        "['" + dots + "']", "a = [" + repeated(50, "'10.0.0.0/8', \"a.b.c.d\", ") + "]"}) {
    CAPTURE(text);
    CHECK(refusal(text) == "");
  }
}

TEST_CASE("a deep key after what looks like a comment or a string is refused, too") {
  const auto key = repeated(100000, "a.") + "a = 1";
  for (const std::string before :
       {R"(a = {b = '\', )", R"(a = {b = "'", )", R"(a = {b = '"', c = '"', )", R"(a = {b = "", )",
        R"(a = {b = '#', )", R"(a = {b = "\\", )", "a = 1 # '\n", "# \"\n", "a = '#'\n",
        "a = {b = '''\n# ''', ", "a = {b = \"\"\"\n# \"\"\", ", "a = {b = \"\"\"\n'\"\"\", ",
        "a = {b = '''\n\"''', ", "a = \"\"\"\n'''\"\"\"\n", "a = \"\"\"\"\"\"\n"}) {
    CAPTURE(before);
    CHECK(refusal(before + key).find("more than 128 dots") != std::string::npos);
  }
}
