// Settings in TOML, valid and not.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/engines/toml_settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/result.hpp>

namespace {

using tools::parse_toml;
using tools::TomlKey;
using tools::TomlSettings;
using Texts = std::vector<std::string>;

TomlSettings settings_of(std::string_view text) {
  auto settings = parse_toml(text, "f.toml");
  REQUIRE_MESSAGE(settings, (settings ? "" : to_string(settings.error())));
  return std::move(*settings);
}

/// Why a text is refused, with its place; empty when it is not.
std::string refusal(std::string_view text) {
  const auto settings = parse_toml(text, "f.toml");
  return settings ? "" : to_string(settings.error());
}

std::string repeated(std::size_t times, std::string_view part) {
  std::string out;
  while (times-- > 0) out.append(part);
  return out;
}

}  // namespace

TEST_CASE("The names in a table are known") {
  const auto settings = settings_of("b = 1\n[a]\nx = 1\ny = 2\n");
  CHECK(settings.names_in({}) == Texts{"a", "b"});
  CHECK(settings.names_in({"a"}) == Texts{"x", "y"});
  CHECK(settings.names_in({"b"}).empty());
  CHECK(settings.names_in({"c"}).empty());
}

TEST_CASE("settings and their tables are found") {
  const auto settings = settings_of(
      "version = 2 # not 3\n"
      "[plugins.\"io.containerd.grpc.v1.cri\"]\r\n"
      "  enable_cdi=true\r\n"
      "  dirs = [ \"/a\" , # one\n 'b#c', ]\n"
      "[ plugins . 'x.y' ]\n"
      "a.'b.c' = {d = 0x10}\n"
      "e = 1.0\n");
  CHECK(settings.number({"version"}) == 2);
  CHECK(settings.truth({"plugins", "io.containerd.grpc.v1.cri", "enable_cdi"}) == true);
  CHECK(settings.list({"plugins", "io.containerd.grpc.v1.cri", "dirs"})->items ==
        Texts{"/a", "b#c"});
  CHECK(settings.number({"plugins", "x.y", "a", "b.c", "d"}) == 16);
  CHECK(settings.has({"plugins", "x.y"}));
  for (const TomlKey& key : {TomlKey{"enable_cdi"}, {"version", "x"}, {"plugins", "x"}, {"a"}}) {
    CHECK_FALSE(settings.has(key));
    CHECK_FALSE(settings.truth(key));
    CHECK_FALSE(settings.number(key));
    CHECK_FALSE(settings.list(key));
  }
}

TEST_CASE("a value of another type exists, and has no value") {
  const auto settings = settings_of("a = \"true\"\nb = \"2\"\nc = 2.0\nd = 1\ne = true\n");
  CHECK_FALSE(settings.truth({"a"}));
  CHECK_FALSE(settings.number({"b"}));
  CHECK_FALSE(settings.number({"c"}));
  CHECK_FALSE(settings.truth({"d"}));
  CHECK_FALSE(settings.number({"e"}));
  CHECK_FALSE(settings.list({"a"}));
  CHECK(settings.has({"a"}));
}

TEST_CASE("a text of many lines is not a setting") {
  for (const std::string quotes : {"'''", "\"\"\""}) {
    const auto settings = settings_of("a = " + quotes + "\n[b]\nc = 1\n" + quotes + "\nd = 2\n");
    CHECK_FALSE(settings.has({"b", "c"}));
    CHECK(settings.number({"d"}) == 2);
  }
}

TEST_CASE("a list of texts") {
  const auto list = [](std::string_view value) {
    return settings_of(std::string{"a = "}.append(value)).list({"a"});
  };
  CHECK(list("[\"/a \\\"b\\\\\", # \"/no\"\n '/c\\d',]")->items == Texts{"/a \"b\\", "/c\\d"});
  CHECK_FALSE(list("['/a']")->append);
  CHECK(list("[]")->items.empty());
  CHECK(list("[\"/a\", {append = true}]")->append);
  CHECK(list("[\"/a\", {append = true}]")->items == Texts{"/a"});
  CHECK(list("[{append=true}]")->append);
  CHECK_FALSE(list("[\"/a\", {append=false}]")->append);
  CHECK_FALSE(list("[\"/a\", {other=true}]")->append);
  CHECK_FALSE(list("[\"/a\", {append=true, other=true}]")->append);
  for (const auto* const odd : {"\"/a\"", "[1]", "true", "[[\"/a\"]]", "{a = 1}"}) {
    CAPTURE(odd);
    CHECK_FALSE(list(odd));
  }
}

TEST_CASE("settings by their name, in whatever table") {
  const auto settings = settings_of("b.n = 1\nn = 2\n[a.c]\nn = {n = 3}\n[[list]]\nn = 4\n");
  CHECK(settings.keys_named("n") ==
        std::vector<TomlKey>{{"a", "c", "n"}, {"a", "c", "n", "n"}, {"b", "n"}, {"n"}});
  CHECK(settings.keys_named("none").empty());
}

TEST_CASE("text that is not TOML is refused, with its place") {
  CHECK(settings_of("").keys_named("a").empty());
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
  CHECK(settings_of(deepest).keys_named("b").empty());
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

TEST_CASE("the lines of a value") {
  const auto settings = settings_of("a = 1\n[t]\nb = [\n  \"x\",\n]\n");
  const auto b = settings.lines_of({"t", "b"});
  REQUIRE(b);
  CHECK(b->first == 2);
  CHECK(b->last == 4);
  CHECK(settings.lines_of({"a"})->last == 0);
  CHECK_FALSE(settings.lines_of({"t", "c"}));
}

TEST_CASE("the place of the name of a setting") {
  const auto settings = parse_toml("a = 1\n[b]\n  c = 2\nd.e = 3\n", "x");
  REQUIRE(settings);
  const auto place = [&](const TomlKey& key) {
    const auto position = settings->position_of(key);
    return std::to_string(position.line) + ":" + std::to_string(position.column);
  };
  CHECK(place({"a"}) == "1:1");
  CHECK(place({"b"}) == "2:2");
  CHECK(place({"b", "c"}) == "3:3");
  CHECK(place({"b", "d", "e"}) == "4:3");
  CHECK(place({"b", "x"}) == "0:0");
  CHECK(place({"x", "y"}) == "0:0");
  CHECK(place({"a", "y"}) == "0:0");
}
