// Objects of the Kubernetes API, read member by member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/claims/json_object.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <cdi/text/parse_json.hpp>

using namespace dra;

TEST_CASE("dra: the text of a value ends where the value does") {
  for (const auto* const value : {"7", "true", R"("a")", R"("}\"]")", "{}", "[]",
                                  R"({"a": [1, {"b": "]"}], "c": {}})", R"([[], "[", [2, [3]]])"}) {
    CAPTURE(value);
    const auto text_of_value = [&](const std::string& before, const std::string& after) {
      const auto document = cdi::parse_json(before + value + after);
      REQUIRE(document);
      std::optional<cdi::Error> error;
      const JsonObject root{document->root(), {}, error};
      return before.starts_with('{')   ? root.find("x").json()
             : before.starts_with('[') ? root.items().front().json()
                                       : root.json();
    };
    CHECK(text_of_value("", "") == value);
    CHECK(text_of_value(R"({"x": )", "}") == value);
    CHECK(text_of_value(R"({"x":)", R"(, "y": 1})") == value);
    CHECK(text_of_value("[", "]") == value);
    CHECK(text_of_value("[", ", 1]") == value);
  }
}

TEST_CASE("dra: reading goes on after an error, and the first error counts") {
  const auto document = cdi::parse_json(R"({"a": "x", "b": 7, "n": null, "f": false, "o": {}})");
  REQUIRE(document);
  const auto error_of = [&](const auto& read) {
    std::optional<cdi::Error> error;
    read(JsonObject{document->root(), {}, error});
    return error ? to_string(*error) : "";
  };
  CHECK(error_of([](const JsonObject& root) {
          CHECK(root.text("a") == "x");
          CHECK(root.text("n").empty());
          CHECK_FALSE(root.flag("f"));
          CHECK_FALSE(root.flag("n"));
          CHECK(root.find("none").json().empty());
          CHECK(root.find("none").items().empty());
          CHECK(root.find("none").required_text("x").empty());
        }).empty());
  CHECK(error_of([](const JsonObject& root) {
          CHECK(root.items().empty());
          CHECK(root.required_text("none").empty());
        }) == "line 1:1: must be a list");
  CHECK(error_of([](const JsonObject& root) { root.flag("b"); }) ==
        "line 1:17: b: must be true or false");
  CHECK(error_of([](const JsonObject& root) { root.flag("a"); }) ==
        "line 1:7: a: must be true or false");
  CHECK(error_of([](const JsonObject& root) { root.find("o").required_text("x"); }) ==
        "line 1:48: o.x: is missing");
  CHECK(error_of([](const JsonObject& root) { root.find("a").find("x"); }) ==
        "line 1:7: a: must be an object");
  CHECK(error_of([](const JsonObject& root) {
          root.allow({"a", "b", "n", "f"});
        }) == "line 1:48: o: is unknown: use one of a, b, n, f");
  CHECK(error_of([](const JsonObject& root) { root.find("o").allow({}); }).empty());
}
