// Tests for include/cdi/text/json.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/text/json.hpp>

#include "../../support/every_spec_field.hpp"

namespace {

using cdi::Errc;

TEST_CASE("A spec with every field is read back as it was written") {
  const cdi::Spec spec = every_field_said();
  for (const int indent : {-1, 0, 4}) {
    const auto text = cdi::write_json(spec, indent);
    REQUIRE(text);
    CHECK((text->find('\n') == std::string::npos) == (indent < 0));
    const auto again = cdi::read_json<cdi::Spec>(*text);
    REQUIRE(again);
    CHECK(*again == spec);
  }
}

TEST_CASE("Members are written in document order") {
  const cdi::Spec spec{
      .version = "0.5.0",
      .kind = "v/c",
      .devices = {{.name = "0", .container_edits = {.device_nodes = {{.path = "/a", .uid = 0}}}}}};
  CHECK(*cdi::write_json(spec, -1) ==
        R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0",)"
        R"("containerEdits":{"deviceNodes":[{"path":"/a","uid":0}]}}]})");
}

TEST_CASE("Only characters that YAML 1.1 does not take are written as escapes") {
  CHECK(
      *cdi::write_json(cdi::Spec{.kind = "a\x7f\xc2\x80\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf"
                                         "b"},
                       -1) ==
      R"({"cdiVersion":"","kind":"a\u007f\u0080\u0085\u2028\ufeff\uffffb","devices":[]})");
  const std::string portable = "\xc2\xa0\xc3\xa9\xf0\x9f\x98\x80";
  CHECK(cdi::write_json(cdi::Spec{.kind = portable}, -1)->find(portable) != std::string::npos);
}

/// A text as it is written.
std::string written(std::string_view text) {
  cdi::JsonTextSink sink{-1};
  sink.text(text);
  REQUIRE(sink.good());
  return std::move(sink).take();
}

TEST_CASE("A character is escaped wherever it is, and changes no other") {
  struct {
    std::string character;
    std::string expected;
  } const rows[] = {
      {"\"", "\\\""},
      {"\\", "\\\\"},
      {"\n", "\\n"},
      {"\x1f", "\\u001f"},
      {"\x7f", "\\u007f"},
      {std::string(1, '\0'), "\\u0000"},
      {"\xc2\x85", "\\u0085"},
      {"\xc3\xa9", "\xc3\xa9"},
      {"\xe2\x80\xa8", "\\u2028"},
      {" ", " "},
      {"~", "~"},
      {"!", "!"},
      {"#", "#"},
      {"[", "["},
      {"]", "]"},
  };
  for (const auto& row : rows) {
    for (std::size_t size = 0; size <= 34; ++size) {
      for (std::size_t at = 0; at <= size; ++at) {
        const std::string before(at, 'a');
        const std::string after(size - at, 'z');
        REQUIRE(written(before + row.character + after) ==
                '"' + before + row.expected + after + '"');
        REQUIRE(written(row.character + before + row.character + after) ==
                '"' + row.expected + before + row.expected + after + '"');
      }
    }
  }
  for (char c = 0; c < 0x7f; ++c) {
    const std::string text = "abcd" + std::string(1, c) + "efgh";
    CHECK(written(text) == nlohmann::json(text).dump());
  }
}

TEST_CASE("Text that is not UTF-8 is not written") {
  for (const std::string text : {"\xff", "a\xff", "abcdefgh\xc3", "\"\xe2\x80",
                                 "\xc3\xa9\x80"
                                 "0123456789"}) {
    const auto json = cdi::write_json(cdi::Spec{.kind = text});
    REQUIRE_FALSE(json);
    CHECK(json.error().code == Errc::invalid);
    CHECK(json.error().message == "text " + cdi::quoted(text) + " is not UTF-8");
  }
}

TEST_CASE("An error of reading names file, line and path") {
  const auto spec = cdi::read_json<cdi::Spec>("{\n \"cdiVersion\": []}", "x.json");
  REQUIRE_FALSE(spec);
  CHECK(to_string(spec.error()) == "x.json:2:16: cdiVersion: expected text, not a list");
}

TEST_CASE("The text is the one that nlohmann writes, except that numbers keep their text") {
  using Member = cdi::AnyMember;
  const auto scalar = [](cdi::ValueKind kind, std::string text) {
    return cdi::AnyValue{.kind = kind, .text = std::move(text)};
  };
  cdi::oci::Spec spec{.version = "1.3.0", .process = cdi::oci::Process{.cwd = "/"}};
  spec.extra.push_back(Member{.key = "a\x01\x1f\"\\/\b\f\n\r\t\xc3\xa9",
                              .value = scalar(cdi::ValueKind::text, "\xe2\x80\xaa")});
  spec.extra.push_back(Member{.key = "list", .value = {.kind = cdi::ValueKind::list}});
  spec.extra.push_back(Member{.key = "map", .value = {.kind = cdi::ValueKind::map}});
  spec.extra.push_back(Member{.key = "null", .value = {}});
  spec.extra.push_back(Member{.key = "true", .value = scalar(cdi::ValueKind::boolean, "true")});
  for (const int indent : {-1, 0, 1, 4}) {
    const auto text = cdi::write_json(spec, indent);
    REQUIRE(text);
    CHECK(*text == nlohmann::ordered_json::parse(*text).dump(indent));
  }
  spec.extra = {Member{.key = "n", .value = scalar(cdi::ValueKind::number, "1.50e+2")}};
  CHECK(cdi::write_json(spec, -1)->ends_with(R"("n":1.50e+2})"));
}

TEST_CASE("Values outside of lists and maps, and the first number that is none") {
  for (const bool value : {true, false}) {
    cdi::JsonTextSink sink{-1};
    sink.boolean(value);
    CHECK(std::move(sink).take() == (value ? "true" : "false"));
  }
  cdi::oci::Spec spec;
  for (const std::string text : {"0x1", "1", "NaN"}) {
    spec.extra.push_back({.key = text, .value = {.kind = cdi::ValueKind::number, .text = text}});
  }
  const auto written = cdi::write_json(spec);
  REQUIRE_FALSE(written);
  CHECK(written.error().message == "\"0x1\" is not a JSON number");
  cdi::oci::SpecView view;
  view.extra.push_back({.key = "x", .value = {.kind = cdi::ValueKind::number}});  // a null text
  CHECK_FALSE(cdi::write_json(view));
}

TEST_CASE("A text that is not JSON is not read") {
  CHECK(cdi::read_json<cdi::Spec>("{").error().code == Errc::syntax);
}

}  // namespace
