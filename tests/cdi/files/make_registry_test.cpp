// Tests for include/cdi/files/make_registry.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/scan.hpp>
#include <cdi/files/make_registry.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using Names = std::vector<std::string>;

/// A spec in YAML of some devices, each of which sets `FROM=value`.
std::string spec(std::string_view kind, const Names& devices, std::string_view value) {
  std::string text = "cdiVersion: 1.0.0\nkind: " + std::string{kind} + "\ndevices:\n";
  for (const auto& name : devices) {
    text += "- name: " + name + "\n  containerEdits: {env: [FROM=" + std::string{value} + "]}\n";
  }
  return text;
}

/// Specs in two directories, with everything that can be wrong with them.
std::vector<cdi::SpecText> texts() {
  return {
      {"0/a.yaml", spec("v.com/c", {"d", "twice", "low"}, "a"), 0},
      {"0/b.yaml", spec("v.com/c", {"twice"}, "b"), 0},
      {"0/broken.json", "{\"kind\": \"v.com/broken\", ", 0},
      {"0/as-yaml.json", spec("v.com/yaml", {"d"}, "y"), 0},
      {"0/too-new.yaml", "cdiVersion: 9.0.0\nkind: v.com/new\ndevices: [{name: d}]\n", 0},
      {"1/bad-device.yaml",
       spec("v.com/half", {"good"}, "h") + "- {name: bad, containerEdits: {env: [A]}}\n", 1},
      {"1/high.yaml", spec("v.com/c", {"d"}, "high"), 1},
  };
}

const Names names{"v.com/c=d",      "v.com/c=twice", "v.com/c=low",     "v.com/c=none",
                  "v.com/broken=d", "v.com/yaml=d",  "v.com/half=good", "v.com/half=bad",
                  "v.com/new=d",    "x.com/y=z",     "not a name"};

/// What users see of a registry.
Names report(const cdi::Registry& registry) {
  Names out = registry.devices();
  for (const auto& error : registry.errors()) out.push_back(to_string(error));
  for (const auto& one : registry.specs()) {
    for (const auto& warning : one->warnings) out.push_back(to_string(warning));
  }
  std::sort(out.begin(), out.end());
  for (const auto& one : registry.unresolved(names)) {
    out.push_back(one.name + ": " + std::string{cdi::row_of(one.reason).code} + ": " +
                  to_string(one.why) + one.needs_version);
    for (const auto& cause : one.causes) out.push_back(to_string(cause));
    for (const auto& name : one.nearest) out.push_back(name);
  }
  for (const auto& name : names) {
    cdi::oci::Spec oci;
    const Names one{name};
    const auto done = registry.inject(oci, one);
    out.push_back(done ? oci.process->env.at(0) : to_string(done.error()));
  }
  return out;
}

}  // namespace

TEST_CASE("Specs in memory give the devices, conflicts and errors of files") {
  const TempTree tree;
  const Names dirs{tree.make_dir("0"), tree.make_dir("1")};
  auto in_memory = texts();
  for (auto& one : in_memory) {
    tree.put(one.name, one.text);
    one.name = tree / one.name;
  }
  for (const bool quarantine : {false, true}) {
    cdi::ReadOptions options;
    options.quarantine_devices = quarantine;
    const auto of_files = report(*cdi::scan_spec_dirs(dirs, options));
    const auto of_texts = report(cdi::make_registry(in_memory, options));
    CHECK(of_files.size() > 2 * names.size());
    CHECK(of_texts == of_files);
  }
}

TEST_CASE("Without directories, a name of an unknown kind has the kinds that are known") {
  const auto registry = cdi::make_registry({{"spec", spec("v.com/c", {"d"}, "1")}});
  CHECK(registry.devices() == Names{"v.com/c=d"});
  const auto missing = registry.unresolved({"x.com/y=z"});
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].reason == cdi::Reason::unknown_kind);
  CHECK(registry.dirs().empty());
}

TEST_CASE("A text may be JSON or YAML, whatever its name is") {
  constexpr std::string_view json =
      R"({"cdiVersion":"1.0.0","kind":"v.com/c","devices":[{"name":"j",
          "containerEdits":{"env":["A=1"]}}]})";
  const auto registry =
      cdi::make_registry({{"", std::string{json}}, {"second", spec("v.com/c", {"y"}, "1")}});
  CHECK(registry.errors().empty());
  CHECK(registry.devices() == Names{"v.com/c=j", "v.com/c=y"});
}

TEST_CASE("Two texts of one name are two specs") {
  const auto registry = cdi::make_registry(
      {{"s", spec("v.com/c", {"d", "e"}, "1")}, {"s", spec("v.com/c", {"d"}, "2")}});
  CHECK(registry.devices() == Names{"v.com/c=e"});
  CHECK(registry.unresolved({"v.com/c=d"}).at(0).reason == cdi::Reason::conflict);
}

TEST_CASE("No texts make a registry that resolves nothing") {
  const auto registry = cdi::make_registry({});
  CHECK(registry.devices().empty());
  CHECK(registry.unresolved({"v.com/c=d"}).size() == 1);
}

TEST_CASE("Limits hold for texts") {
  cdi::ReadOptions options;
  options.limits.bytes = 10;
  const auto registry = cdi::make_registry({{"s", spec("v.com/c", {"d"}, "1")}}, options);
  REQUIRE(registry.errors().size() == 1);
  CHECK(registry.errors()[0].code == cdi::Errc::limit);
  CHECK(registry.errors()[0].position.file == "s");
}
