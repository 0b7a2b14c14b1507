// Tests for tools/cdi/specs/rivals.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/specs/rivals.hpp"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

cdi::Spec spec_of(const std::string& kind) {
  return {.version = "0.6.0", .kind = kind, .devices = {{.name = "a"}, {.name = "b"}}};
}

/// A registry of two directories, with one spec in each.
cdi::Registry two_dirs(const std::string& kind) {
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  for (const int priority : {0, 1}) {
    specs.push_back(std::make_shared<cdi::LoadedSpec>(
        cdi::LoadedSpec{.spec = spec_of(kind),
                        .path = (priority == 0 ? "/etc/cdi/" : "/var/run/cdi/") + std::string{"x"},
                        .priority = priority}));
  }
  return cdi::Registry{
      std::move(specs),
      {},
      {{.path = "/etc/cdi", .priority = 0}, {.path = "/var/run/cdi", .priority = 1}}};
}

}  // namespace

TEST_CASE("A spec of a higher directory has priority, and one of the same directory conflicts") {
  const auto registry = two_dirs("v.com/c");
  cdi::Spec spec{.kind = "v.com/c", .devices = {{.name = "b"}, {.name = "c"}}};
  const auto found = find_rivals(registry, spec, "/etc/cdi/y");
  REQUIRE(found.conflicts.size() == 1);
  CHECK(to_string(found.conflicts[0]) ==
        "/etc/cdi/x: also defines \"v.com/c=b\", which no engine would then resolve: remove that "
        "file, or replace it with --name x");
  REQUIRE(found.notes.size() == 1);
  CHECK(to_string(found.notes[0]) ==
        "/var/run/cdi/x: \"v.com/c=b\" has priority over the one of /etc/cdi/y");
}

TEST_CASE("The file that is replaced, and specs of other kinds, are not rivals") {
  const auto spec = spec_of("v.com/c");
  const auto found = find_rivals(two_dirs("v.com/c"), spec, "/var/run/cdi/x");
  CHECK(found.conflicts.empty());
  CHECK(found.notes.size() == 2);
  const auto others = find_rivals(two_dirs("v.com/d"), spec, "/var/run/cdi/x");
  CHECK(others.notes.empty());
}
