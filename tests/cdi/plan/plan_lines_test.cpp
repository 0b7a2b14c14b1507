// Tests for the lines of edits in plans.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/file.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/plan/plan.hpp>

#include "../../support/temp_tree.hpp"

namespace {

const char* const text = R"(cdiVersion: "1.1.0"
kind: v.com/c
containerEdits:
  env:
    - S=1
devices:
  - name: "0"
    containerEdits:
      env: [A=1,
            B=1]
      deviceNodes:
        - path: /dev/a
        - {path: /dev/b, hostPath: /dev/x}
      netDevices: [{hostInterfaceName: eth0, name: net0}]
      hooks:
        - {hookName: prestart, path: /h}
      mounts:
        - hostPath: /m
          containerPath: /m
      intelRdt:
        closID: x
      additionalGids:
        - 0
        - 7
)";

cdi::Result<cdi::HostNode> host(std::string_view) {
  return cdi::HostNode{.major = 1, .minor = 2};
}

cdi::Registry registered(cdi::LoadedSpec loaded) {
  return cdi::Registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
}

using LineNumbers = std::vector<std::uint32_t>;

template <class Edit>
void add_lines(const std::vector<cdi::Planned<Edit>>& all, LineNumbers& to) {
  for (const auto& one : all) to.push_back(one.origin.line);
}

/// The lines of all edits of the device.
LineNumbers lines_of(const cdi::Registry& registry) {
  const auto plan = cdi::plan(registry, {"v.com/c=0"}, host);
  REQUIRE(plan);
  LineNumbers lines;
  add_lines(plan->env, lines);
  add_lines(plan->device_nodes, lines);
  add_lines(plan->net_devices, lines);
  add_lines(plan->hooks, lines);
  add_lines(plan->mounts, lines);
  add_lines(plan->intel_rdt, lines);
  add_lines(plan->additional_gids, lines);
  return lines;
}

const LineNumbers of_edits{5, 9, 10, 12, 13, 14, 16, 18, 21, 24};
const LineNumbers of_devices{4, 7, 7, 7, 7, 7, 7, 7, 7, 7};

}  // namespace

TEST_CASE("Each edit has its line, from the file or from a text") {
  const TempTree tree;
  const auto path = tree / "a.yaml";
  put_file(path, text);
  const auto registry = registered(*cdi::read_spec_file(path));
  CHECK(lines_of(registry) == of_edits);
  put_file(path, "");
  CHECK(lines_of(registry) == of_edits);  // the file is not read once more
  CHECK(lines_of(registered(*cdi::parse_spec(text, "in memory", cdi::Format::yaml))) == of_edits);
}

TEST_CASE("Without its file, an edit has the line of its device, or of the edits of the spec") {
  const TempTree tree;
  const auto path = tree / "a.yaml";
  put_file(path, text);
  const auto changed = registered(*cdi::read_spec_file(path));
  const auto removed = registered(*cdi::read_spec_file(path));
  put_file(path, "\n" + std::string{text} + "        - 8\n");
  CHECK(lines_of(changed) == of_devices);
  ::unlink(path.c_str());
  CHECK(lines_of(removed) == of_devices);
  put_file(path, text);
  CHECK(lines_of(removed) == of_devices);  // a search that failed is not repeated
}

TEST_CASE("A file that has changed without other contents has the new lines") {
  const TempTree tree;
  const auto path = tree / "a.yaml";
  put_file(path, text);
  const auto loaded = *cdi::read_spec_file(path);
  put_file(path, "# one more line\n" + std::string{text});
  auto expected = of_edits;
  for (auto& line : expected) ++line;
  CHECK(lines_of(registered(loaded)) == expected);
}

TEST_CASE("A file without its invalid devices has the lines of the others") {
  const TempTree tree;
  const auto path = tree / "a.yaml";
  put_file(path,
           "kind: v.com/c\ncdiVersion: 1.1.0\ndevices:\n- {name: bad}\n"
           "- name: good\n  containerEdits:\n    env:\n    - A=1\n");
  const auto loaded = cdi::read_spec_file(path, {.quarantine_devices = true});
  REQUIRE(loaded);
  const auto plan = cdi::plan(registered(*loaded), {"v.com/c=good"});
  REQUIRE(plan);
  CHECK(plan->devices.at(0).line == 5);
  CHECK(plan->env.at(0).origin.line == 8);
}

TEST_CASE("A name that does not resolve is the error of the registry") {
  const auto plan = cdi::plan(cdi::Registry{}, {"v.com/c=0"});
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == cdi::Errc::not_found);
  CHECK(cdi::plan(cdi::Registry{}, std::vector<std::string>{})->devices.empty());
}
