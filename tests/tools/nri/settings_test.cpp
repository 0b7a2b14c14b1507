// The settings of a plugin, as TOML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/settings.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "../../support/temp_tree.hpp"

namespace {

std::string error_of(const char* text) {
  nri::Settings settings;
  const auto done = nri::read_settings(text, "conf", settings);
  return done ? "" : to_string(done.error());
}

}  // namespace

TEST_CASE("nri: all settings are read, and those that are not given stay") {
  nri::Settings settings{.policy = "given"};
  REQUIRE(
      nri::read_settings("spec-dirs = ['/a', '/b']\nresolve = 'never'\nnamespaces = ['x*']\n"
                         "prefixes = ['mine.com']\nhost-root = '/host'\nanswer-limit = 500\n",
                         "conf", settings));
  CHECK(settings.spec_dirs == std::vector<std::string>{"/a", "/b"});
  CHECK(settings.resolve == "never");
  CHECK(settings.namespaces == std::vector<std::string>{"x*"});
  CHECK(settings.prefixes == std::vector<std::string>{"mine.com"});
  CHECK(settings.host_root == "/host");
  CHECK(settings.answer_limit == 500);
  CHECK(settings.policy == "given");
  REQUIRE(nri::read_settings("policy = 'p'", "conf", settings));
  CHECK(settings.policy == "p");
  CHECK(error_of("").empty());
}

TEST_CASE("nri: an unknown or wrong setting is an error with its line") {
  for (const auto* text : {"\npolice = 'p'", "\npolicy = 1", "\nresolve = 'sometimes'",
                           "\nspec-dirs = []", "\nprefix = ['a']", "\nanswer-limit = 0",
                           "\nanswer-limit = 60001", "\nanswer-limit = '90'"}) {
    CAPTURE(text);
    const std::string name{std::string_view{text}.substr(1, std::string_view{text}.find(' ') - 1)};
    CHECK(error_of(text).starts_with("conf:2:"));
    CHECK(error_of(text).find(": " + name + ": ") != std::string::npos);
  }
  CHECK(error_of("policy = ").starts_with("conf:1:"));
  for (const auto* text : {"resolve = 'auto'", "resolve = 'always'", "resolve = 'never'",
                           "answer-limit = 1", "answer-limit = 60000"}) {
    CHECK(error_of(text).empty());
  }
}

TEST_CASE("nri: a policy that cannot be read") {
  const TempTree tree;
  nri::Settings settings;
  CHECK(nri::try_policy(settings));
  settings.policy = tree / "policy.json";
  CHECK_FALSE(nri::try_policy(settings));
  tree.put("policy.json", R"({"rules": [{"name": "r", "allow": true}]})");
  CHECK(nri::try_policy(settings));
}

TEST_CASE("nri: a policy contradicts names for the runtime") {
  nri::Settings settings;
  settings.policy = "policy.json";
  CHECK(nri::check(settings));
  settings.resolve = "never";
  CHECK_FALSE(nri::check(settings));
  settings.policy.clear();
  CHECK(nri::check(settings));
}
