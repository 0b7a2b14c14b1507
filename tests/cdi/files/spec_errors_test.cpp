// Tests for include/cdi/files/spec_errors.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/spec_errors.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/text/limits.hpp>

namespace {

using Texts = std::vector<std::string>;

/// Every error as `LINE:COLUMN WHERE`.
Texts places(std::string_view text, cdi::Format format = cdi::Format::yaml) {
  Texts out;
  for (const auto& error : cdi::spec_errors(text, "f", format)) {
    CHECK(error.position.file == "f");
    out.push_back(std::to_string(error.position.line) + ":" +
                  std::to_string(error.position.column) + " " + error.where);
  }
  return out;
}

constexpr std::string_view good = R"(cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {env: [A=1]}
)";

/// The text `good` with one part replaced.
std::string with(std::string_view part, std::string_view by) {
  std::string text{good};
  return text.replace(text.find(part), part.size(), by);
}

}  // namespace

TEST_CASE("A valid spec has no errors, in either format") {
  CHECK(places(good).empty());
  CHECK(places(R"({"cdiVersion": "0.6.0", "kind": "v.com/c",
    "devices": [{"name": "a", "containerEdits": {"env": ["A=1"]}}]})",
               cdi::Format::json)
            .empty());
}

TEST_CASE("Every broken rule, and every member that cannot be read, comes with its place") {
  CHECK(places(R"(cdiVersion: 0.6.0
kind: vendor
colour: red
devices:
- name: a b
  containerEdits:
    env: [A, B=1, {c: [1]}, =2]
    mounts: [{hostPath: [1], options: 3}]
- name: b
  Name: c
  containerEdits: {evn: [A=1]}
- containerEdits: {hooks: [{hookName: x, path: ""}], deviceNodes: [{path: /x, major: -1}]}
- 3
- name: b
  annotations: {good: 1, bad: [x]}
  containerEdits: {env: [A=1]}
)") == Texts{"2:7 kind", "3:1 colour", "5:9 devices[0].name",
             "7:11 devices[0].containerEdits.env[0]", "7:19 devices[0].containerEdits.env[2]",
             "7:29 devices[0].containerEdits.env[3]",
             "8:14 devices[0].containerEdits.mounts[0].containerPath",
             "8:25 devices[0].containerEdits.mounts[0].hostPath",
             "8:39 devices[0].containerEdits.mounts[0].options", "10:3 devices[1].Name",
             "11:20 devices[1].containerEdits.evn", "12:3 devices[2].name",
             "12:39 devices[2].containerEdits.hooks[0].hookName",
             "12:48 devices[2].containerEdits.hooks[0].path",
             "12:86 devices[2].containerEdits.deviceNodes[0].major", "13:3 devices[3]",
             "14:9 devices[4].name", "15:31 devices[4].annotations.bad"});
}

TEST_CASE("What follows from a member that cannot be read is no further error") {
  for (const auto& [part, by, place] :
       {std::array{"kind: vendor.com/gpu", "king: vendor.com/gpu", "2:1 king"},
        std::array{"[A=1]", "1", "5:25 devices[0].containerEdits.env"},
        std::array{"env: [A=1]", "evn: [A=1]", "5:20 devices[0].containerEdits.evn"},
        std::array{"name: a", "name: [a]", "4:9 devices[0].name"}}) {
    auto found = places(with(part, by));
    std::erase(found, "1:1 kind");  // the missing member is an error of its own
    CHECK(found == Texts{place});
  }
  CHECK(places("[]") == Texts{"1:1 "});
  CHECK(places(with("- name: a\n  containerEdits: {env: [A=1]}", "  a")) == Texts{"4:3 devices"});
}

TEST_CASE("The first error of parse_spec is among them, and none is there without it") {
  for (const auto& text :
       {std::string{good}, with("0.6.0", "0.3.0"), with("0.6.0", "9.9.9"), with("gpu", "g/u"),
        with("env", "Env"), with("A=1", "A"), with("A=1", "\"A=\\0\""), with("name", "nam"),
        with("[A=1]", "[[A=1]]"), with("devices:", "devices: ["), std::string{}}) {
    const auto spec = cdi::parse_spec(text, "f", cdi::Format::yaml);
    const auto errors = cdi::spec_errors(text, "f", cdi::Format::yaml);
    CHECK_MESSAGE(errors.empty() == spec.has_value(), text);
    if (spec) continue;
    bool found = false;
    for (const auto& error : errors) {
      found = found || to_string(error) == to_string(spec.error());
    }
    CHECK_MESSAGE(found, to_string(spec.error()));
  }
}

TEST_CASE("The number of errors is limited, and so is the memory that reading takes") {
  std::string many;
  for (std::size_t i = 0; i < cdi::max_errors; ++i) many += "x, {}, ";
  CHECK(places(with("A=1", many)).size() == cdi::max_errors);
  std::string large;
  for (int i = 0; i < 300'000; ++i) large += "{},";
  const auto errors =
      cdi::spec_errors(with("env: [A=1]", "mounts: [" + large + "]"), "f", cdi::Format::yaml);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].code == cdi::Errc::limit);
  CHECK(errors[0].where == "devices[0].containerEdits.mounts");
  cdi::ReadOptions small;
  small.limits.bytes = 10;
  const auto over = cdi::spec_errors(good, "f", cdi::Format::yaml, small);
  REQUIRE(over.size() == 1);
  CHECK(over[0].code == cdi::Errc::limit);
}
