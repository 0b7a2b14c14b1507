// Findings as text and as results.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/findings/finding.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace prepare;

using Level = Finding::Level;

TEST_CASE("findings as text and as JSON") {
  const std::vector<Finding> findings{
      {Level::good, "IOMMU", "on", ""},
      {Level::fault, "a \"b\"", "wrong \xff", "fix it", "no-major"}};
  CHECK(findings_as_text(findings) ==
        "good   IOMMU: on\n"
        "fault  a \"b\": wrong \\xff\n"
        "       fix it\n");
  CHECK(tools::json_line(shown(findings)) ==
        R"([{"level":"good","about":"IOMMU","what":"on","code":null,"advice":null},)"
        R"({"level":"fault","about":"a \"b\"","what":"wrong \ufffd","code":"no-major",)"
        "\"advice\":\"fix it\"}]\n");
}

TEST_CASE("levels have colours, but not the rest") {
  CHECK(with_colours("good   a: b\nnote   c: good\n       note\nfault  d: e\n") ==
        "\x1b[32mgood\x1b[0m   a: b\n\x1b[33mnote\x1b[0m   c: good\n       note\n"
        "\x1b[31mfault\x1b[0m  d: e\n");
  CHECK(with_colours("note: no end") == "\x1b[33mnote\x1b[0m: no end");
  CHECK(with_colours("").empty());
}

TEST_CASE("of findings that differ only in the names of devices, the first is shown") {
  std::vector<Finding> findings;
  for (const auto* name : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}) {
    findings.push_back({Level::fault, std::string{"GPU "} + name, "has no driver", "load it"});
    findings.push_back({Level::good, std::string{"GPU "} + name, "ready", ""});
  }
  CHECK(findings_as_text(findings) ==
        "fault  GPU 0000:01:00.0: has no driver (and 2 more like it)\n"
        "       load it\n"
        "good   GPU 0000:01:00.0: ready\n"
        "good   GPU 0000:02:00.0: ready\n"
        "good   GPU 0000:03:00.0: ready\n");
  CHECK(shown(findings).size() == 6);
}

TEST_CASE("only a fault needs to be fixed") {
  CHECK_FALSE(has_fault({}));
  CHECK_FALSE(has_fault({{Level::good, "a", "b", ""}, {Level::note, "a", "b", "c"}}));
  CHECK(has_fault({{Level::good, "a", "b", ""}, {Level::fault, "a", "b", "c"}}));
}
