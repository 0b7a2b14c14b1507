// Tests for include/cdi/text/yaml/yaml.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/text/yaml/yaml.hpp>

namespace {

using namespace std::string_literals;
using cdi::Errc;

TEST_CASE("Text is quoted when some reader would not read it as text") {
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

TEST_CASE("Any text is read back as it was written") {
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
                                                          std::string(600, '\n'),
                                                          std::string(1000, ' ')}) {
    CAPTURE(cdi::quoted(text.substr(0, 20)));
    if (text.size() < 10000) CHECK(comes_back(text));
    cdi::NetDevice device{.host_interface_name = text, .name = "net0"};
    const auto again = cdi::read_yaml<cdi::NetDevice>(*cdi::write_yaml(device));
    REQUIRE(again);
    CHECK(*again == device);
  }
}

// An emitter wrote these raw, or not at all.
TEST_CASE("DEL is read back") {
  CHECK(comes_back("a\x7f"));
}
TEST_CASE("A carriage return is read back") {
  CHECK(comes_back("a\r"));
}
TEST_CASE("Noncharacters are read back") {
  CHECK(comes_back("\xef\xbf\xbf"));
}
TEST_CASE("A key of more than 1024 bytes is read back") {
  CHECK(comes_back(std::string(2000, 'a')));
}
TEST_CASE("Line breaks of YAML 1.1 are not written without quotes") {
  for (const std::string mark : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    const auto text = cdi::write_yaml(cdi::Spec{.kind = "a" + mark + "b"});
    CHECK(text->find(mark) == std::string::npos);
  }
}

TEST_CASE("A spec is written in document order, in block style") {
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

TEST_CASE("Text that is not UTF-8 is not written") {
  const auto text = cdi::write_yaml(cdi::Spec{.kind = "\xff"});
  REQUIRE_FALSE(text);
  CHECK(text.error().code == Errc::invalid);
}

TEST_CASE("An error of reading names file, line and path") {
  const auto spec = cdi::read_yaml<cdi::Spec>("cdiVersion:\n  - 1", "x.yaml");
  REQUIRE_FALSE(spec);
  CHECK(to_string(spec.error()) == "x.yaml:2:3: cdiVersion: expected text, not a list");
}

TEST_CASE("Values outside of lists and maps stand alone") {
  const auto alone = [](auto write) {
    cdi::YamlSink sink;
    write(sink);
    return std::move(sink).take();
  };
  CHECK(alone([](cdi::YamlSink& sink) { sink.boolean(false); }) == "---\nfalse\n");
  CHECK(alone([](cdi::YamlSink& sink) { sink.boolean(true); }) == "---\ntrue\n");
  CHECK(alone([](cdi::YamlSink& sink) { sink.begin_map(), sink.end_map(); }) == "---\n{}\n");
}

TEST_CASE("A key of more than 1000 bytes has a question mark") {
  for (const std::size_t size : {1000U, 1001U}) {
    const std::string key(size, 'k');
    const auto out = cdi::write_yaml(cdi::Spec{.annotations = {{key, "v"}}});
    REQUIRE(out);
    CHECK((out->find("? " + key) != std::string::npos) == (size == 1001));
    CHECK((out->find("  " + key + ": v") != std::string::npos) == (size == 1000));
  }
}

TEST_CASE("A text that is not YAML is not read") {
  CHECK(cdi::read_yaml<cdi::Spec>("{").error().code == cdi::Errc::syntax);
}

TEST_CASE("Characters that readers drop or reject are escaped, their neighbours are not") {
  struct {
    std::string text;
    std::string yaml;
  } const rows[] = {
      {"\xef\xb7\x8f", "\"\xef\xb7\x8f\""},  // U+FDCF
      {"\xef\xb7\x90", "\"\\ufdd0\""},
      {"\xef\xb7\xaf", "\"\\ufdef\""},
      {"\xef\xb7\xb0", "\"\xef\xb7\xb0\""},
      {"\xef\xbb\xbf", "\"\\ufeff\""},
      {"\xf0\x9f\xbf\xbe", "\"\\U0001fffe\""},
      {"\xf0\x9f\xbf\xbd", "\"\xf0\x9f\xbf\xbd\""},
      {"a:b", "a:b"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.yaml);
    const auto out =
        cdi::write_yaml(cdi::NetDevice{.host_interface_name = row.text, .name = "net0"});
    REQUIRE(out);
    CHECK(*out == "---\nhostInterfaceName: " + row.yaml + "\nname: net0\n");
  }
}

}  // namespace
