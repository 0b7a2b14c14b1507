// Tests for tools/kit/versions/conversion.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/versions/conversion.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/spec_text.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/rules.hpp>

#include "../../../../tools/kit/versions/conversion_advice.hpp"
#include "../../../../tools/kit/versions/engine_versions.hpp"
#include "spec_files.hpp"

using spec_files::engine;
using spec_files::file;
using spec_files::parse;

namespace {

std::string rejection(std::string_view by, const cdi::LoadedSpec& loaded) {
  const auto why = tools::rejection_by(engine(by), loaded);
  return why ? to_string(*why) : std::string{};
}

const std::string monitored_rdt = "{intelRdt: {closID: c, enableCMT: true}}";

}  // namespace

TEST_CASE("An engine refuses versions that it does not know") {
  CHECK(rejection("podman@4.9.3", file("0.6.0")).empty());
  CHECK(rejection("podman@4.3.1", file("0.6.0")) ==
        "/etc/cdi/v.yaml:1:13: cdiVersion: version \"0.6.0\" is newer than 0.5.0, the newest that "
        "podman 4.3.1 reads");
  CHECK(rejection("containerd@1.6.0", file("0.3.0")).find("older than 1.7.0") != std::string::npos);
}

TEST_CASE("Old releases of the Go library refuse a v before the version") {
  const auto prefixed = file("v0.3.0");
  for (const auto* by : {"podman@4.5", "containerd@1.7.0", "cri-o@1.27.0", "kata-agent@3.11"}) {
    CHECK(rejection(by, prefixed).empty());
  }
  for (const auto* by : {"podman@4.0", "cri-o@1.26.4", "nvidia-container-runtime@1.11"}) {
    CHECK_FALSE(rejection(by, prefixed).empty());
  }
  CHECK(rejection("podman@4.4.4", prefixed) ==
        "/etc/cdi/v.yaml:1:13: cdiVersion: podman 4.4.4 refuses version \"v0.3.0\": write "
        "\"0.3.0\"");
  CHECK(tools::convert_for(engine("podman@4.4.4"), prefixed)->spec.version == "0.3.0");
}

TEST_CASE("An engine refuses members that its version does not have yet, even empty ones") {
  const auto annotated = file("0.5.0", "{env: [A=1]}", "annotations: {}\n");
  CHECK(rejection("docker@25", annotated).empty());
  CHECK(rejection("podman@4.3.1", annotated) ==
        "/etc/cdi/v.yaml:3:1: annotations: podman 4.3.1 does not know the member, which was "
        "added in CDI 0.6.0");
  CHECK_FALSE(rejection("containerd@1.7.0", annotated).empty());
  CHECK(tools::convert_for(engine("podman@4.3.1"), annotated)->losses.empty());
  CHECK(tools::conversion_advice(engine("podman@4.3.1"), annotated) ==
        "convert the file by running `cdi convert --in-place --backup --for podman@4.3.1 "
        "/etc/cdi/v.yaml`; or update podman "
        "to 4.7.0 or newer");

  struct {
    const char* version;
    const char* edits;
    const char* before;
    const char* since;
  } const rows[] = {
      {"0.6.0", "{env: [A=1], netDevices: []}", "containerd@2.0", "containerd@2.2.1"},
      {"0.6.0", "{env: [A=1], netDevices: null}", "containerd@2.0", "containerd@2.2.1"},
      {"0.6.0", "{env: [A=1], additionalGids: []}", "docker@25", "docker@26.1"},
      {"0.7.0", "{intelRdt: {enableMonitoring: false}}", "podman@5.8.6", "podman@6.0"},
      {"0.3.0", "{deviceNodes: [{path: /d, hostPath: ''}]}", "podman@4.2", "podman@4.3"},
      {"0.3.0", "{mounts: [{hostPath: /a, containerPath: /b, Type: ''}]}", "cri-o@1.24",
       "podman@4.1"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.edits);
    const auto loaded = file(row.version, row.edits);
    CHECK(rejection(row.before, loaded).find("does not know the member") != std::string::npos);
    CHECK(rejection(row.since, loaded).empty());
  }
}

TEST_CASE("An engine refuses members that its version does not have any more") {
  const auto old = file("0.7.0", monitored_rdt);
  CHECK(rejection("podman@5.3", old).empty());
  CHECK(rejection("podman@6.0", old) ==
        "/etc/cdi/v.yaml:5:53: devices[0].containerEdits.intelRdt.enableCMT: podman 6.0.0 does not "
        "know the member, which enableMonitoring replaced in 1.1.0");
  CHECK(*tools::spec_version_for(engine("podman@6.0"), old.spec) == cdi::SpecVersion{1, 1, 0});
  const auto converted = tools::convert_spec(old, {1, 1, 0});
  REQUIRE(converted);
  CHECK(converted->losses.empty());
  CHECK(converted->spec.devices[0].container_edits.intel_rdt->enable_monitoring);
}

TEST_CASE("An engine refuses values that its library does not know, in every version") {
  const auto none = file("0.6.0", "{deviceNodes: [{path: /dev/d, permissions: none}]}");
  CHECK(rejection("podman@6.0", none) ==
        "/etc/cdi/v.yaml:5:62: devices[0].containerEdits.deviceNodes[0].permissions: podman 6.0.0 "
        "refuses the permissions none");
  const auto rejected = tools::convert_for(engine("podman@6.0"), none);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().position.column == 62);
  CHECK(tools::conversion_advice(engine("podman@6.0"), none) ==
        "change the file: it cannot be converted: podman 6.0.0 refuses the permissions none");
  CHECK(tools::convert_spec(none, {0, 3, 0}));

  const auto root = file("0.7.0", "{env: [A=1]}", "containerEdits: {intelRdt: {closID: /}}\n");
  CHECK(rejection("podman@6.0", root).empty());
  CHECK(rejection("podman@5.3", root)
            .ends_with("containerEdits.intelRdt.closID: podman 5.3.0 refuses "
                       "the closID /"));
  CHECK(tools::conversion_advice(engine("podman@5.3"), root)
            .starts_with("update podman to 6.0.0 or newer, or change the file"));
  CHECK(tools::convert_for(engine("podman@4.9"), root)->losses.size() == 1);  // all of intelRdt

  auto letter = file("0.3.0");
  letter.spec.devices[0].name = "d";
  CHECK(rejection("podman@4.3", letter).empty());
  CHECK(rejection("podman@4.2", letter).ends_with("refuses a device name of one character"));
  letter.spec.kind = "v/gpu";
  CHECK(rejection("podman@6.0", letter).ends_with("refuses a vendor or class of one character"));
}

TEST_CASE("Newer libraries read values that older ones refuse in every version") {
  const auto none = file("0.6.0", "{deviceNodes: [{path: /dev/d, permissions: none}]}");
  auto letter = file("0.3.0");
  letter.spec.kind = "v/gpu";
  for (const auto* by : {"containerd@2.4.0", "buildkit@0.34.0", "kata-agent@4.0.0"}) {
    CAPTURE(by);
    CHECK(rejection(by, none).empty());
    CHECK(rejection(by, letter).empty());
    CHECK(tools::convert_for(engine(by), none));
  }
  CHECK_FALSE(rejection("containerd@2.3.0", none).empty());
  CHECK_FALSE(rejection("containerd@2.3.0", letter).empty());
  CHECK_FALSE(rejection("kata-agent@3.25.0", none).empty());
}

TEST_CASE("Old releases of the Rust crate ignore a member in another case") {
  const auto odd = file("0.6.0", "{ENV: [A=1]}");
  CHECK(rejection("kata-agent@3.25.0", odd).find(" ignores it: ") != std::string::npos);
  CHECK(rejection("kata-agent@4.0.0", odd).find(" refuses it: ") != std::string::npos);
}

TEST_CASE("The version for an engine is the spec's, or the newest that the engine reads") {
  CHECK(*tools::spec_version_for(engine("podman@4.3.1"), file("0.3.0").spec) ==
        cdi::SpecVersion{0, 3, 0});
  CHECK(*tools::spec_version_for(engine("podman@4.3.1"), file("1.1.0").spec) ==
        cdi::SpecVersion{0, 5, 0});
  CHECK(tools::spec_version_for(engine("podman@3.4"), file("0.3.0").spec).error().code ==
        cdi::Errc::not_found);
  CHECK(tools::spec_version_for(engine("podman@4.0"), file("0.3.0").spec).error().code ==
        cdi::Errc::unsupported);
  CHECK(tools::conversion_advice(engine("podman@4.0"), file("0.3.0"))
            .starts_with("update podman to 4.1.0 or newer, or change the file, which cannot be "));
}

TEST_CASE("The version for an engine has the members that are newer than the version of the spec") {
  const auto loaded = parse(
      "cdiVersion: 0.3.0\nkind: v.com/gpu\ndevices:\n"
      "- {name: a0, containerEdits: {deviceNodes: [{path: /dev/a, hostPath: /dev/b}]}}\n"
      "- {name: b0, containerEdits: {env: [A=1]}}\n");
  CHECK(*tools::spec_version_for(engine("podman@6.0.0"), loaded.spec) == cdi::SpecVersion{0, 5, 0});
  const auto converted = tools::convert_for(engine("podman@6.0.0"), loaded);
  REQUIRE(converted);
  CHECK(converted->losses.empty());
  CHECK(*tools::spec_version_for(engine("podman@4.2.0"), loaded.spec) == cdi::SpecVersion{0, 4, 0});
}

TEST_CASE("All that a conversion loses is listed with its place") {
  const auto loaded =
      file("1.1.0", "{env: [A=1], additionalGids: [7]}", "annotations: {a b: x, '': y}\n");
  auto converted = tools::convert_spec(loaded, {0, 6, 0});
  REQUIRE(converted);
  REQUIRE(converted->losses.size() == 3);
  CHECK(converted->losses[0].where == "annotations");
  CHECK(converted->losses[1].where == "annotations.a b");
  CHECK(converted->losses[2].where == "devices[0].containerEdits.additionalGids");
  CHECK(converted->losses[2].position.line == 6);
  CHECK(cdi::write_spec(converted->spec, cdi::Format::yaml));

  converted = tools::convert_spec(file("0.6.0", "{env: [A=1]}\n---\nmore: 1"), {0, 6, 0});
  REQUIRE(converted);
  REQUIRE(converted->losses.size() == 1);
  CHECK(converted->losses[0].position.line == 7);
}

TEST_CASE("A file that cannot be converted is refused at its place") {
  auto dotted = file("0.6.0");
  dotted.spec.kind = "v.com/gpu.x";
  const auto kind = tools::convert_spec(dotted, {0, 5, 0});
  REQUIRE_FALSE(kind);
  CHECK(to_string(kind.error()).starts_with("/etc/cdi/v.yaml: kind: "));
  auto large = file("0.6.0");
  large.spec.annotations["a"] = std::string(300'000, 'x');
  const auto size = tools::convert_spec(large, {0, 6, 0});
  REQUIRE_FALSE(size);
  CHECK(size.error().rule == "annotation-size");
  CHECK(tools::convert_spec(large, {0, 5, 0})->losses.size() == 1);
}

TEST_CASE("The place in the file is the device's, when devices before it are removed") {
  auto loaded = parse(
      "cdiVersion: 1.1.0\n"
      "kind: v.com/gpu\n"
      "devices:\n"
      "- name: net\n"
      "  containerEdits: {netDevices: [{hostInterfaceName: a, name: b}]}\n"
      "- name: kept\n"
      "  containerEdits: {env: [A=1]}\n"
      "- name: large\n"
      "  annotations: {a: b}\n"
      "  containerEdits: {env: [A=1]}\n");
  loaded.spec.devices[2].annotations["a"] = std::string(300'000, 'x');
  const auto converted = tools::convert_spec(loaded, {0, 8, 0});
  REQUIRE_FALSE(converted);
  CHECK(to_string(converted.error()).starts_with("v.yaml:8:3: devices[2].annotations: "));
}

TEST_CASE("A value of a device that the conversion removes does not prevent it") {
  const auto text = [](const std::string& last) {
    return "cdiVersion: 0.5.0\n"
           "kind: v.com/gpu\n"
           "devices:\n"
           "- name: '0a'\n"
           "  containerEdits: {deviceNodes: [{path: /dev/d, permissions: none}]}\n"
           "- name: " +
           last + "\n  containerEdits: {env: [A=1]}\n";
  };
  CHECK(tools::convert_for(engine("podman@4.1"), parse(text("dev"))));
  const auto rejected = tools::convert_for(engine("podman@4.1"), parse(text("d")));
  REQUIRE_FALSE(rejected);
  CHECK(to_string(rejected.error()) ==
        "v.yaml:6:9: devices[1].name: podman 4.1.0 refuses a device name of one character");
}

// What ParseSpec of the Go library 1.1.0 (containerd 2.3) and 1.1.1 (containerd 2.4) make of these.
TEST_CASE("A text that the library of an engine refuses is refused by the engine") {
  const std::string monitored_as = "{intelRdt: {closID: c, enableMonitoring: ";
  const struct {
    cdi::LoadedSpec loaded;
    bool read_by_110;
    bool read_by_111;
  } rows[] = {
      {file("1.1.0", "{env: [A=1]}"), true, true},
      {file("1.1.0", "{ENV: [A=1]}"), true, false},
      {file("1.1.0", "{env: [A=1]}", "Annotations: {a: b}\n"), true, false},
      {file("1.1.0", monitored_as + "yes}}"), true, true},
      {file("1.1.0", monitored_as + "\"yes\"}}"), false, true},
      {file("1.1.0", monitored_as + "\"yes\"}}", "annotations: {a: on}\n"), false, true},
      {file("1.1.0", "{env: [A=1]}", "annotations: {a: on, b: 1.10}\n"), true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(&row - &rows[0]);
    CHECK(rejection("containerd@2.3.7", row.loaded).empty() == row.read_by_110);
    for (const auto* by : {"containerd@2.4", "buildkit@0.34.0", "nvidia-container-runtime@1.20.1"})
      CHECK(rejection(by, row.loaded).empty() == row.read_by_111);
  }
  CHECK(rejection("containerd@2.4.0", rows[1].loaded)
            .starts_with("/etc/cdi/v.yaml:5:20: ENV: containerd 2.4.0, with CDI library 1.1.1, "
                         "refuses it: names of members in another case are rejected by "));
  CHECK_FALSE(rejection("kata-agent@4.0", rows[1].loaded).empty());
  CHECK(tools::conversion_advice(engine("containerd@2.4.0"), rows[1].loaded) ==
        "convert the file by running `cdi convert --in-place --backup --for containerd@2.4.0 "
        "/etc/cdi/v.yaml`");
  CHECK(tools::conversion_advice(engine("containerd@2.3.0"), rows[4].loaded)
            .ends_with("; or update containerd to 2.4.0 or newer"));
}

/// A spec whose device has a name and a variable.
std::string named_spec(const std::string& name, const std::string& env = "[A=1]") {
  return "cdiVersion: 0.6.0\nkind: v.com/gpu\ndevices:\n- name: " + name +
         "\n  containerEdits: {env: " + env + "}\n";
}

TEST_CASE("What all releases of the Go library refuse is refused for their engines") {
  const auto spec = named_spec("a");
  const auto head = spec.substr(0, spec.find("devices"));
  const auto end = spec.substr(head.size());
  for (const auto& text :
       {"%YAML 1.2\n---\n" + spec, named_spec("!!float a"), named_spec("!b>c a"),
        head + "\t\n" + end, head + "\t# c\n" + end, spec + "\t\n", head + "# a\u2028b\n" + end,
        head + "# a\u0085b\n" + end, named_spec("a # x\u2028 y"), named_spec("a", "[\"A=\u0080\"]"),
        named_spec("a", "[\"A=\uffff\"]"), named_spec("a", "[\"A=\\/\"]"),
        named_spec("a", "[A=1?]"),
        head + "# \u2028# a\n" + named_spec("a", "[A=1?]").substr(head.size())}) {
    CAPTURE(text);
    const auto loaded = cdi::parse_spec(text, "v.yaml", cdi::Format::yaml);
    REQUIRE(loaded);
    for (const auto* by : {"containerd@2.4.0", "containerd@2.0.5", "podman@5.2.0"})
      CHECK_FALSE(rejection(by, *loaded).empty());
    CHECK(rejection("kata-agent@4.0.0", *loaded).empty());
  }
}

TEST_CASE("What the Go library reads is not refused, whatever other readers make of it") {
  const auto spec = named_spec("a");
  const auto head = spec.substr(0, spec.find("devices"));
  const auto end = spec.substr(head.size());
  for (const auto& text : {named_spec("! 5"), spec + "...\n\t\n", head + "# a\u2028# b\n" + end,
                           named_spec("a", "[A=1\u2028b]"), named_spec("a", "[\"A=1\u2028b\"]"),
                           named_spec("a", "[\"A=\ufeff\"]")}) {
    CAPTURE(text);
    const auto loaded = cdi::parse_spec(text, "v.yaml", cdi::Format::yaml);
    REQUIRE(loaded);
    REQUIRE_FALSE(loaded->warnings.empty());
    for (const auto* by : {"containerd@2.0.5", "podman@5.2.0"})
      CHECK(rejection(by, *loaded).empty());
  }
  const auto merged = cdi::parse_spec(
      head + "devices:\n- &d {name: a, containerEdits: {env: [A=1]}}\n- {<<: *d, name: b}\n",
      "v.yaml", cdi::Format::yaml);
  REQUIRE(merged);
  CHECK_FALSE(rejection("podman@5.2.0", *merged).empty());
  CHECK(rejection("containerd@2.4.0", *merged).empty());
}

TEST_CASE("An engine has no warning about a text that it reads as the newest library does") {
  const auto codes = [](std::string_view by, const cdi::LoadedSpec& loaded) {
    std::string out;
    for (const auto& one : tools::text_warnings(engine(by), loaded))
      out.append(one.rule).append(";");
    return out;
  };
  const auto odd = file("1.1.0", "{ENV: [A=1]}", "annotations: {a: on}\n");
  CHECK(codes("containerd@2.3.7", odd) == "portable-text;");
  CHECK(codes("containerd@2.4.0", odd) == "member-case;");
  CHECK(codes("kata-agent@4.0", odd) == "member-case;portable-text;");
  const auto two = file("1.1.0", "{env: [A=1]}\n---\n{}");
  CHECK(codes("containerd@2.4.0", two) == "single-document;");
  const auto slash =
      cdi::parse_spec(R"({"cdiVersion": "0.6.0", "kind": "v.com\/gpu", "devices": [{"name": "a", )"
                      R"("containerEdits": {"env": ["A=1"]}}]})",
                      "v.json", cdi::Format::json);
  REQUIRE(slash);
  CHECK(codes("containerd@2.3.7", *slash) == "portable-text;");
  CHECK(codes("containerd@2.4.0", *slash) == "portable-text;");
}

TEST_CASE("Warnings of the text concern what programs read differently") {
  CHECK(tools::text_warnings(file("0.6.0", "{env: [' A=1']}")).empty());
  const auto codes = [](const cdi::LoadedSpec& loaded) {
    std::vector<std::string_view> out;
    for (const auto& warning : tools::text_warnings(loaded)) out.push_back(warning.rule);
    return out;
  };
  CHECK(codes(file("0.6.0", "{ENV: [A=1]}\n---\n{}")) ==
        std::vector<std::string_view>{"single-document", "member-case"});
  const auto json = cdi::parse_spec(
      "cdiVersion: 0.6.0\nkind: v.com/gpu\ndevices: [{name: dev, containerEdits: {env: [A=1]}}]\n",
      "v.json", cdi::Format::json);
  REQUIRE(json);
  CHECK(codes(*json) == std::vector<std::string_view>{"json-syntax"});
}

TEST_CASE(
    "A conversion keeps the owner, in a comment before 0.6.0 and in an annotation from then") {
  const std::string annotations = "annotations: {cdi-publisher/owner: me}\n";
  const auto annotated = file("0.6.0", "{env: [A=1]}", annotations);
  const auto older = tools::convert_for(engine("podman@4.3.1"), annotated);
  REQUIRE(older);
  CHECK(older->owner == "me");
  CHECK(older->losses.empty());
  CHECK(older->spec.annotations.empty());
  const auto text = cdi::write_spec(older->spec, cdi::Format::yaml, older->owner);
  REQUIRE(text);
  CHECK(text->starts_with("# cdi-publisher/owner: me\n"));
  const auto commented = parse(*text);
  CHECK(commented.owner() == "me");

  const auto newer = tools::convert_spec(commented, {0, 6, 0});
  REQUIRE(newer);
  CHECK(newer->owner == "me");
  CHECK(newer->spec == annotated.spec);

  // Only the record is kept, and only one that a comment can hold.
  const auto more = tools::convert_spec(
      file("0.6.0", "{env: [A=1]}", "annotations: {a: b, cdi-publisher/owner: me}\n"), {0, 5, 0});
  REQUIRE(more);
  CHECK(more->losses.size() == 1);
  CHECK(more->owner == "me");
  const auto bad = tools::convert_spec(
      file("0.6.0", "{env: [A=1]}", "annotations: {cdi-publisher/owner: \"a\\nb: c\"}\n"),
      {0, 5, 0});
  REQUIRE(bad);
  CHECK(bad->owner.empty());
  CHECK(bad->losses.size() == 1);
}
