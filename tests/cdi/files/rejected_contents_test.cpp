// Tests for include/cdi/files/rejected_contents.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/rejected_contents.hpp>
#include <cdi/text/parse_json.hpp>

namespace {

using Names = std::vector<std::string>;

cdi::RejectedFile contents(std::string_view text) {
  cdi::RejectedFile file;
  cdi::detail::guess_contents(text, file);
  return file;
}

Names pairs(std::string_view text) {
  Names values;
  cdi::detail::scan_pairs(text, "name", [&](std::string_view value) {
    values.emplace_back(value);
    return true;
  });
  return values;
}

}  // namespace

TEST_CASE("Pairs are found in YAML, in JSON, and in other text") {
  struct {
    std::string_view text;
    Names values;
  } const rows[] = {
      {"", {}},
      {"name", {}},
      {"name:", {""}},
      {"name: ", {""}},
      {"name\"", {}},
      {"name\" ", {}},
      {"name:'", {""}},
      {"name: d", {"d"}},
      {"name: d # e", {"d"}},
      {"name:d", {"d"}},
      {"- name : d\n- name:\te\r\n", {"d", "e"}},
      {"{name: d}, {\"name\": \"e\"}, {'name': 'f'}", {"d", "e", "f"}},
      {R"([{"name":"d","name":"e"}])", {"d", "e"}},
      {"\"name\"\n  : \"d\"", {"d"}},
      {"NAME: d\nName: e", {"d", "e"}},
      {"hookname: d\nxname: e\n.name: f", {}},
      {"names: d", {}},
      {"name d", {}},
      {"name: name: d", {"name:", "d"}},
      {"\xff\xfe name: \xff", {"\xff"}},
      {{"\0name: d\0 name: e\0", 18}, {{"e\0", 2}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(pairs(row.text) == row.values);
  }
}

TEST_CASE("The search for pairs ends on request") {
  int calls = 0;
  cdi::detail::scan_pairs("name: a, name: b, name: c", "name",
                          [&](std::string_view) { return ++calls < 2; });
  CHECK(calls == 2);
}

TEST_CASE("The search for pairs is one pass over any text") {
  constexpr std::size_t size = 1 << 20;
  for (const std::string_view part :
       {"{name:", "name", "name:", " name:", "\"name\":", "name \"", "[name:", "name: [", " "}) {
    CAPTURE(part);
    std::string text;
    while (text.size() < size) text.append(part);
    std::size_t told = 0;
    for (const auto& value : pairs(text)) told += value.size();
    CHECK(told <= text.size());
  }
}

TEST_CASE("The kind, the devices and a newer version are found in a rejected file") {
  struct {
    std::string_view text;
    std::string_view kind;
    Names devices;
    std::string_view needs_version;
  } const rows[] = {
      {"", "", {}, ""},
      {"cdiVersion: 1.2.0\nkind: v.com/c\ndevices:\n- name: a\n- name: b\n",
       "v.com/c",
       {"a", "b"},
       "1.2.0"},
      {R"({"cdiVersion":"1.2.0","kind":"v.com/c","devices":[{"name":"a"},{"na)",
       "v.com/c",
       {"a"},
       "1.2.0"},
      {"\xEF\xBB\xBFkind: v/c\nNAME: a\nCDIVERSION: 1.2.0", "v/c", {"a"}, "1.2.0"},
      {"kind: no kind\nkind: v/c\nkind: w/c", "v/c", {}, ""},  // the first that is one
      {"kind: v/c!\nname: a b\nname: -\nname: c!\n", "", {"a"}, ""},
      {"kind: v\nkind: /c\nkind: 0/c", "", {}, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto file = contents(row.text);
    CHECK(file.kind == row.kind);
    CHECK(file.devices == row.devices);
    CHECK(file.needs_version == row.needs_version);
  }
}

TEST_CASE("The devices of a rejected file are not kept if their names would fill the memory") {
  std::string devices;
  for (int i = 0; i < 100; ++i) devices += "name: d" + std::to_string(i) + "\n";
  const auto kind = "kind: v/" + std::string(50'000, 'c') + "\n";
  CHECK(contents(kind + devices).devices.empty());  // 5 MB
  CHECK(contents("kind: v/c\n" + devices).devices.size() == 100);
  for (int i = 100; i < 1000; ++i) devices += "name: d" + std::to_string(i) + "\n";
  const auto widest = "kind: v/" + std::string(4'294'966, 'c') + "\n";  // 704 bytes more than 2^32
  CHECK(contents(widest + devices).devices.empty());
}

TEST_CASE("Only a newer version is recorded, and only its digits and dots") {
  struct {
    std::string_view version;
    std::string_view needs;
  } const rows[] = {
      {"1.2.0", "1.2.0"},
      {"v1.2.0", "1.2.0"},
      {"2", "2.0.0"},
      {"1.2", "1.2.0"},
      {"1.1.1", "1.1.1"},
      {"10.0.0", "10.0.0"},
      {"300.0.0", "300.0.0"},
      {"1.1.0", ""},
      {"0.9.0", ""},
      {"1.0", ""},
      {"1.10.0", "1.10.0"},
      {"", ""},
      {"v", ""},
      {"1.", ""},
      {"2.", ""},
      {".2", ""},
      {"2..0", ""},
      {"2.0.0.0", ""},
      {"2.0.0-rc1", ""},
      {"2.0.0\x1b[31m", ""},
      {"2.\xff", ""},
      {"-2.0.0", ""},
      {"99999999999.0.0", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.version);
    CHECK(cdi::detail::newer_version(row.version) == row.needs);
    CHECK(contents("cdiVersion: \"" + std::string{row.version} + "\"\n").needs_version ==
          row.needs);
  }
  cdi::RejectedFile known{.needs_version = "0.5.0"};
  cdi::detail::guess_contents("cdiVersion: 1.2.0", known);
  CHECK(known.needs_version == "0.5.0");
}

TEST_CASE("A file with too many names counts as one that may have any device") {
  std::string text = "kind: v/c\n";
  for (int i = 0; i < 1000; ++i) text.append("name: d\n");
  CHECK(contents(text).devices.size() == 1000);
  CHECK(contents(text + "name: d\n").devices.empty());
  CHECK(contents(text + "name: d\n").kind == "v/c");
}

TEST_CASE("The name of a device is its member in any case, and empty without one") {
  const auto document = cdi::parse_json(R"([{"Name":"d"},{"kind":"b"},"d",["d"]])");
  REQUIRE(document);
  std::vector<std::string> names;
  for (const auto item : document->root().items()) {
    names.push_back(cdi::detail::name_of_device(item));
  }
  CHECK(names == std::vector<std::string>{"d", "", "", ""});
}
