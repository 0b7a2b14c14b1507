// Tests for include/cdi/files/quarantine.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/quarantine.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml/yaml.hpp>

namespace {

using Names = std::vector<std::string>;

/// What is left of a spec, and what is wrong with the rest.
struct Rest {
  std::optional<cdi::Document> document{};
  std::vector<cdi::QuarantinedDevice> bad{};

  /// Of what is left, each with its line: `a:4`.
  Names devices() const {
    Names names;
    if (!document) return names;
    for (const auto item : cdi::detail::find_member(document->root(), "devices")->items()) {
      names.push_back(cdi::detail::name_of_device(item) + ":" +
                      std::to_string(item.position().line));
    }
    return names;
  }
  Names errors() const {
    Names texts;
    for (const auto& one : bad) texts.push_back(one.name + "; " + to_string(one.why));
    return texts;
  }
};

Rest leave_out(const std::string& text) {
  const auto document = cdi::parse_yaml(text, "f.yaml");
  REQUIRE_MESSAGE(document, (document ? "" : to_string(document.error())));
  Rest rest;
  rest.document = cdi::detail::without_bad_devices(*document, rest.bad);
  return rest;
}

/// A spec of CDI version 0.3.0; the devices begin in line 4.
Rest leave_out_devices(std::string_view devices) {
  return leave_out("cdiVersion: 0.3.0\nkind: v/c\ndevices:\n" + std::string{devices});
}

}  // namespace

TEST_CASE("Valid devices stay with their lines, and invalid ones are reported with their place") {
  const auto rest = leave_out_devices(
      "- name: a\n"
      "  containerEdits: {env: [A=1]}\n"
      "- name: b\n"
      "  containerEdits:\n"
      "    env: [B=1, B]\n"
      "- name: c\n"
      "  containerEdits: {env: [C=1]}\n"
      "- name: d\n"
      "  containerEdit: {}\n"
      "- name: e\n"
      "  containerEdits: {env: [E=1]}\n");
  CHECK(rest.devices() == Names{"a:4", "c:9", "e:13"});
  REQUIRE(rest.bad.size() == 2);
  CHECK(rest.bad[0].name == "b");
  CHECK(rest.bad[0].why.where == "devices[1].containerEdits.env[1]");
  CHECK(rest.bad[0].why.position.file == "f.yaml");
  CHECK(rest.bad[0].why.position.line == 8);
  CHECK(rest.bad[0].why.position.column == 16);
  CHECK(rest.bad[0].why.rule == "env-entry");
  CHECK(rest.bad[1].name == "d");
  CHECK(rest.errors()[1].starts_with("d; f.yaml:12:3: devices[3].containerEdit: unknown field"));
}

TEST_CASE("Invalid devices of all kinds are reported, and a valid one stays") {
  struct {
    std::string_view item;
    std::string_view told;  // how it begins
  } const rows[] = {
      {"- 5", "; f.yaml:4:3: devices[0]: expected an object, not 5"},
      {"- null", "; f.yaml:4:3: devices[0]: expected an object, not null"},
      {"- []", "; f.yaml:4:3: devices[0]: expected an object, not a list"},
      {"- [name, a]", "; f.yaml:4:3: devices[0]: expected an object, not a list"},
      {"- {}", "; f.yaml:4:3: devices[0].name: the required field is missing"},
      {"- {containerEdits: {env: [A=1]}}",
       "; f.yaml:4:3: devices[0].name: the required field is missing"},
      {"- {name: a}", "a; f.yaml:4:3: devices[0].containerEdits: the required field is missing"},
      {"- {name: a, containerEdits: {}}",
       "a; f.yaml:4:29: devices[0].containerEdits: device \"a\""},
      {"- {name: [a], containerEdits: {env: [A=1]}}", "; f.yaml:4:10: devices[0].name: expected"},
      {"- {name: \"a\\nb\", containerEdits: {env: [A=1]}}",
       "a\nb; f.yaml:4:10: devices[0].name: device name \"a\\nb\""},
      {"- {NAME: a, CONTAINEREDITS: {ENV: [A]}}",
       "a; f.yaml:4:36: devices[0].containerEdits.env[0]: "},
      {"- {name: a, annotations: {\"no key\": x}, containerEdits: {env: [A=1]}}", "a; f.yaml:4:"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.item);
    const auto rest = leave_out_devices(std::string{row.item} +
                                        "\n- {name: good, containerEdits: {env: [A=1]}}\n");
    REQUIRE(rest.bad.size() == 1);
    const auto told = rest.errors()[0];
    CAPTURE(told);
    CHECK(told.starts_with(row.told));
    CHECK(rest.bad[0].why.message.find('\n') == std::string::npos);
    CHECK(rest.devices() == Names{"good:5"});
  }
}

TEST_CASE("All devices with the same name are removed, because the name is ambiguous") {
  const auto rest = leave_out_devices(
      "- {name: a, containerEdits: {env: [A=1]}}\n"
      "- {name: b, containerEdits: {env: [A=1]}}\n"
      "- {name: a, containerEdits: {env: [A=2]}}\n"
      "- {name: a, containerEdits: {env: [A]}}\n"
      "- {name: A, containerEdits: {env: [A=1]}}\n"
      "- {name: c, containerEdits: {env: [A=1]}}\n"
      "- {name: c, containerEdits: {env: [A=1]}}\n");
  CHECK(rest.devices() == Names{"b:5", "A:8"});
  REQUIRE(rest.bad.size() == 5);
  CHECK(rest.errors()[0] ==
        "a; f.yaml:4:3: devices[0].name: device \"a\" is defined more than once: choose another "
        "name");
  CHECK(rest.bad[1].why.position.line == 6);
  CHECK(rest.bad[1].why.rule == "device-name-unique");
  CHECK(rest.bad[2].why.rule == "env-entry");  // its own error comes first
}

TEST_CASE("The error of a device for a newer version has the version and the reason") {
  const auto rest = leave_out_devices(
      "- {name: a, containerEdits: {env: [A=1]}}\n"
      "- name: b\n"
      "  containerEdits:\n"
      "    mounts:\n"
      "    - {hostPath: /a, containerPath: /a, type: bind}\n"
      "- {name: 0c, containerEdits: {env: [A=1]}}\n");
  CHECK(rest.devices() == Names{"a:4"});
  CHECK(
      rest.errors() ==
      Names{"b; f.yaml:8:47: devices[1].containerEdits.mounts[0].type: version \"0.3.0\" is too "
            "old for this member: write \"0.4.0\"",
            "0c; f.yaml:9:10: devices[2].name: version \"0.3.0\" is too old for this member: write "
            "\"0.5.0\""});
}

TEST_CASE("Host paths that are newer than the spec are an error of the last valid device only") {
  const std::string newer =
      "- {name: a, containerEdits: {deviceNodes: [{path: /a, hostPath: /b}]}}\n";
  const std::string plain = "- {name: b, containerEdits: {env: [A=1]}}\n";
  const std::string bad = "- {name: 'c c', containerEdits: {env: [A=1]}}\n";
  CHECK(leave_out_devices(newer + plain + bad).devices() == Names{"a:4", "b:5"});
  CHECK(leave_out_devices(plain + newer + bad).devices() == Names{"b:4"});
  CHECK(leave_out_devices(newer + bad).devices().empty());
}

TEST_CASE("An unknown or missing version is not an error of a device") {
  for (const std::string_view version : {"cdiVersion: 9.9.9\n", "cdiVersion: [1]\n", ""}) {
    CAPTURE(version);
    const auto rest = leave_out(std::string{version} +
                                "kind: v/c\ndevices:\n"
                                "- {name: 0a, containerEdits: {env: [A=1]}}\n"
                                "- {name: b, containerEdits: {env: [A]}}\n");
    CHECK(rest.devices().size() == 1);
    CHECK(rest.errors().size() == 1);
  }
}

TEST_CASE("Nothing is left of a spec without good devices, without bad ones, or without a list") {
  struct {
    std::string_view text;
    std::size_t bad;
  } const rows[] = {
      {"cdiVersion: 0.3.0\ndevices: [{name: a}, {name: b}, 5]", 3},
      {"cdiVersion: 0.3.0\ndevices: [{name: a, containerEdits: {env: [A=1]}}]", 0},
      {"cdiVersion: 0.3.0\ndevices: []", 0},
      {"cdiVersion: 0.3.0\ndevices: {name: a}", 0},
      {"cdiVersion: 0.3.0\ndevices:", 0},
      {"cdiVersion: 0.3.0\ndevices: a", 0},
      {"cdiVersion: 0.3.0", 0},
      {"- devices: [{name: a}]", 0},
      {"devices", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto rest = leave_out(std::string{row.text});
    CHECK_FALSE(rest.document);
    CHECK(rest.bad.size() == row.bad);
  }
}

TEST_CASE("Devices are found whatever the case of the keys") {
  const auto rest = leave_out(
      "CDIVERSION: 0.3.0\nKIND: v/c\nDEVICES:\n"
      "- {Name: a, ContainerEdits: {Env: [A=1]}}\n"
      "- {Name: b, ContainerEdits: {Env: [A]}}\n");
  CHECK(rest.devices() == Names{"a:4"});
  CHECK(rest.bad.size() == 1);
}

/// A spec of `count` devices of which each `nth` is bad.
std::string many_devices(std::size_t count, std::size_t nth) {
  std::string text = "cdiVersion: 0.3.0\nkind: v/c\ndevices:\n";
  for (std::size_t i = 1; i <= count; ++i) {
    text.append("- {name: d").append(std::to_string(i)).append(", containerEdits: {env: [A");
    text.append(i % nth == 0 ? "]}}\n" : "=1]}}\n");
  }
  return text;
}

TEST_CASE("A hundred thousand devices, each hundredth invalid, are separated in one pass") {
  constexpr std::size_t count = 100'000;
  const auto rest = leave_out(many_devices(count, 100));
  CHECK(rest.bad.size() == count / 100);
  REQUIRE(rest.devices().size() == count - count / 100);
  CHECK(rest.devices().back() == "d99999:100002");
  CHECK(rest.bad.back().why.position.line == 100'003);
  CHECK(rest.bad.back().why.where == "devices[99999].containerEdits.env[0]");
}

TEST_CASE("A file with too many invalid devices is rejected as a whole") {
  CHECK(leave_out(many_devices(2000, 2)).document);
  CHECK_FALSE(leave_out(many_devices(2002, 2)).document);
}

TEST_CASE("A version before the oldest is the fault of the spec, and not of its devices") {
  for (const std::string version : {"0.1.0", "0.2.0", "9.9.9", "x"}) {
    CAPTURE(version);
    const auto rest = leave_out("cdiVersion: " + version +
                                "\nkind: v/c\ndevices:\n- name: 0a\n"
                                "  containerEdits: {env: [A=1], netDevices: []}\n");
    CHECK(rest.errors().empty());
  }
}
