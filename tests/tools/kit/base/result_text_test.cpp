// Tests for tools/kit/base/result_text.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/base/result_text.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/fields.hpp>

namespace {

struct Answer {
  std::string name{};
  std::optional<std::string> owner{};
  std::vector<std::string> none{};

  static constexpr void fields(auto& list) {
    list("name", &Answer::name);
    list("owner", &Answer::owner, cdi::required);
    list("none", &Answer::none);
  }
};

/// The same by another writer.
std::string peer(const std::string& name) {
  const nlohmann::ordered_json value{{"name", name}, {"owner", nullptr}};
  return value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

TEST_CASE("a result is written as a writer of ASCII does") {
  for (const std::string name : {"a", "\xC3\xA4", "\xE2\x80\xAE", "\xF0\x9F\x92\xBE\"\\\x01\x7F\n",
                                 "\xED\x95\x9C\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(name);
    CHECK(tools::json_text(Answer{.name = name}) == peer(name));
  }
}

TEST_CASE("bytes that are not UTF-8 are replaced, in texts and keys") {
  CHECK(tools::json_line(Answer{.name = "a\xFFz\xC3"}) ==
        "{\"name\":\"a\\ufffdz\\ufffd\",\"owner\":null}\n");
  CHECK(tools::yaml_text(Answer{.name = "a\xFF"}) == "---\nname: \"a\xEF\xBF\xBD\"\nowner: null\n");
  const std::map<std::string, int> by_name{{"\xFF", 1}};
  CHECK(tools::json_line(by_name) == "{\"\\ufffd\":1}\n");
}

TEST_CASE("a list is a result, too") {
  CHECK(tools::json_line(std::vector<std::string>{"a", "b"}) == "[\"a\",\"b\"]\n");
  CHECK(tools::json_text(std::vector<std::string>{}) == "[]\n");
}

}  // namespace
