// Tests for tools/kit/cdi_specs/overlaps.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/overlaps.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/plan/plan.hpp>

namespace {

cdi::Origin device(std::string_view name, std::uint32_t line = 1) {
  return {.name = "v.com/c=" + std::string{name}, .file = "/f", .line = line};
}

cdi::DeviceNode node(const char* path, std::int64_t minor, const char* type = "c") {
  return {.path = path, .type = type, .major = 1, .minor = minor};
}

/// Code, key, names of the origins, and whether the edits are equal.
std::vector<std::string> overlaps(const cdi::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& one : tools::find_overlaps(plan)) {
    out.push_back(std::string{row_of(one.kind).code} + " " + one.key + " " +
                  one.first.name.substr(8) + " " + one.second.name.substr(8) +
                  (one.equal ? " equal" : ""));
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("The rows are in the order of the kinds, and their codes differ") {
  for (std::size_t i = 0; i < tools::overlap_kinds.size(); ++i) {
    CHECK(tools::overlap_kinds[i].kind == static_cast<tools::OverlapKind>(i));
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(tools::overlap_kinds[i].code != tools::overlap_kinds[j].code);
    }
  }
}

TEST_CASE("A plan whose edits differ has no overlaps") {
  cdi::Plan plan;
  CHECK(overlaps(plan).empty());
  plan.devices = {device("0"), device("1")};
  plan.env = {{"A=1", device("0")}, {"B=1", device("1")}};
  plan.device_nodes = {{node("/a", 1), device("0")}, {node("/b", 2), device("1")}};
  plan.intel_rdt = {{{.clos_id = "x"}, device("0")}};
  CHECK(overlaps(plan).empty());
}

TEST_CASE("Two values of a variable overlap, and the same value twice does not") {
  cdi::Plan plan;
  plan.env = {{"A=1", device("0")}, {"B=1", device("0")}, {"A=1", device("1")},
              {"B=2", device("1")}, {"B=3", device("2")}, {"AB=1", device("2")}};
  CHECK(overlaps(plan) == Lines{"same-variable B 0 1", "same-variable B 1 2"});
}

TEST_CASE("A path of two nodes, and two paths of one host node") {
  cdi::Plan plan;
  plan.device_nodes = {
      {node("/a", 1), device("0"), true}, {node("/a", 2), device("1")},
      {node("/b", 2, "u"), device("2")},  {node("/c", 2, "b"), device("2")},
      {node("/d", 9), device("0"), true}, {node("/d", 9), device("1")},
  };
  CHECK(overlaps(plan) ==
        Lines{"same-node /a 0 1", "same-node /d 0 1 equal", "same-host-node c 1:2 1 2"});
}

TEST_CASE("A FIFO has no numbers that could be equal") {
  cdi::Plan plan;
  plan.device_nodes = {{{.path = "/a", .type = "p"}, device("0")},
                       {{.path = "/b", .type = "p"}, device("1")}};
  CHECK(overlaps(plan).empty());
}

TEST_CASE("Mounts, net devices and settings overlap") {
  cdi::Plan plan;
  plan.mounts = {{{"/x", "/m"}, device("0"), true}, {{"/y", "/m"}, device("1")}};
  plan.net_devices = {{{"eth0", "a"}, device("0"), true},
                      {{"eth0", "a"}, device("1")},
                      {{"eth1", "b"}, device("2")}};
  plan.intel_rdt = {{{.clos_id = "x"}, device("0"), true}, {{.clos_id = "x"}, device("1")}};
  CHECK(overlaps(plan) == Lines{"same-mount /m 0 1", "same-host-interface eth0 0 1 equal",
                                "same-intel-rdt  0 1 equal"});
}

TEST_CASE("The device all overlaps with the others of its kind, in the order they are named") {
  cdi::Plan plan;
  plan.devices = {device("0"), device("all"), device("1"), {.name = "v.com/d=all"}};
  CHECK(overlaps(plan) ==
        Lines{"all-with-other v.com/c=0 0 all", "all-with-other v.com/c=1 all 1"});
  plan.devices = {{.name = "v.com/a=0"}, device("0"), {.name = "v.com/d=all"}, device("small")};
  CHECK(overlaps(plan).empty());
}

TEST_CASE("A device that is named twice is one overlap, and not one for each edit") {
  cdi::Plan plan;
  plan.devices = {device("0"), device("1"), device("0")};
  plan.device_nodes = {{node("/a", 1), device("0", 5), true}, {node("/a", 1), device("0", 5)}};
  CHECK(overlaps(plan) == Lines{"same-device v.com/c=0 0 0"});
}

TEST_CASE("An overlap is one line, with the origins of both edits") {
  CHECK(to_string(tools::Overlap{.kind = tools::OverlapKind::variable,
                                 .key = "A\n",
                                 .first = device("0", 3),
                                 .second = device("1", 4)}) ==
        "same-variable A\\n: v.com/c=0 (/f:3), v.com/c=1 (/f:4): both set the variable; the second "
        "value wins");
  CHECK(to_string(tools::Overlap{.kind = tools::OverlapKind::intel_rdt,
                                 .first = device("0"),
                                 .second = device("1"),
                                 .equal = true})
            .ends_with("; they are equal"));
}
