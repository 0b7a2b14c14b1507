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

}  // namespace

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
