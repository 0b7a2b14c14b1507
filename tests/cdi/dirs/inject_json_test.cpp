// Tests for include/cdi/dirs/inject_json.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/inject_json.hpp>

#include "../../support/temp_tree.hpp"

namespace {

/// A directory with one spec, of device `v/c=d`.
struct OneDevice {
  TempTree tree{};
  std::vector<std::string> dirs{tree.make_dir("cdi")};

  OneDevice() {
    tree.put("cdi/v.yaml",
             "cdiVersion: 0.6.0\nkind: v/c\ndevices:\n- {name: d, containerEdits: {env: [A=1]}}\n");
  }
};

}  // namespace

TEST_CASE("Devices are injected into a text, which keeps its layout and its unknown members") {
  const OneDevice node;
  struct {
    std::string before;
    std::string after;
  } const rows[] = {
      {R"({"x":1.50,"process":{"env":["B=2"],"cwd":"/"}})",
       R"({"x":1.50,"process":{"env":["B=2","A=1"],"cwd":"/"}})"},
      {"{\"process\": {\"env\": []}}\n", "{\"process\": {\"env\": [\"A=1\"]}}\n"},
      {"{\n  \"z\": null,\n  \"process\": {\n    \"env\": []\n  }\n}\n",
       "{\n  \"z\": null,\n  \"process\": {\n    \"env\": [\n      \"A=1\"\n    ]\n  }\n}\n"},
      {"{\n" + std::string(2000, ' ') + "\"process\": {}}",
       "{\n" + std::string(2000, ' ') +
           "\"process\": {\n    \"user\": {\n      \"uid\": 0,\n      \"gid\": 0\n    },\n"
           "    \"cwd\": \"\",\n    \"env\": [\n      \"A=1\"\n    ]\n  }}"},
      {"{\n\t\"process\": {\n\t\t\"env\": []\n\t}\n}",
       "{\n\t\"process\": {\n\t\t\"env\": [\n\t\t\t\"A=1\"\n\t\t]\n\t}\n}"},
      {R"({"process":{"env":["N=18446744073709551615"],"n":18446744073709551615}})",
       R"({"process":{"env":["N=18446744073709551615","A=1"],"n":18446744073709551615}})"},
  };
  for (const auto& row : rows) {
    auto config = row.before;
    const auto done = cdi::inject_json(config, {"v/c=d"}, node.dirs);
    CHECK_MESSAGE(done, (done ? "" : to_string(done.error())));
    CHECK(config == row.after);
  }
}

TEST_CASE("Names come from any range, specs from directories or from a cache") {
  const OneDevice node;
  const std::string before = R"({"process":{"env":[]}})";
  const std::string after = R"({"process":{"env":["A=1"]}})";
  const std::vector<std::string> strings{"v/c=d"};
  const std::string_view views[] = {"v/c=d"};
  cdi::Cache cache{node.dirs};
  auto config = before;
  REQUIRE(cdi::inject_json(config, strings, node.dirs));
  CHECK(config == after);
  config = before;
  REQUIRE(cdi::inject_json(config, views, cache));
  CHECK(config == after);
  config = before;
  REQUIRE(cdi::inject_json(config, {"v/c=d"}, cache));
  CHECK(config == after);
  REQUIRE(cdi::inject_json(config, std::vector<std::string>{}));
  CHECK(config == after);
}

TEST_CASE("After an error the text is unchanged") {
  const OneDevice node;
  struct {
    std::string config;
    std::string_view name;
    std::string error;
  } const rows[] = {
      {"{}", "v/c=e", "cannot resolve"},
      {"{}", "d", "cannot resolve"},
      {"", "v/c=d", "1:1: "},
      {"{\n\"a\": }", "v/c=d", "2:6: "},
      {"[]", "v/c=d", "expected an object"},
      {R"({"process":{"env":"A"}})", "v/c=d", "process.env: expected an array"},
      {R"({"a":1,"a":2})", "v/c=d", "1:8: "},
      {std::string("{}\0{", 4), "v/c=d", "1:3: "},
      {"{\"a\":" + std::string(100'000, '['), "v/c=d", "more than 64 levels deep"},
  };
  for (const auto& row : rows) {
    auto config = row.config;
    const auto done = cdi::inject_json(config, {row.name}, node.dirs);
    REQUIRE_FALSE(done);
    CAPTURE(to_string(done.error()));
    CHECK(to_string(done.error()).find(row.error) != std::string::npos);
    CHECK(config == row.config);
  }
  std::string config = "{}";
  CHECK(cdi::inject_json(config, {"v/c=d"}).error().code == cdi::Errc::not_found);
}
