// Tests for include/cdi/plan/change.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/plan/change.hpp>

using cdi::Change;
using cdi::ChangeKind;

TEST_CASE("Each kind of change is one line") {
  CHECK(
      to_string(Change{
          .kind = ChangeKind::added, .part = "process.env", .key = "A", .after = "A=1", .to = 2}) ==
      "added process.env[2]: A=1");
  CHECK(to_string(Change{.kind = ChangeKind::replaced,
                         .part = "process.env",
                         .key = "A",
                         .before = "A=0",
                         .after = "A=1",
                         .from = 0,
                         .to = 0}) == "replaced process.env[0]: A=0 -> A=1");
  CHECK(to_string(Change{.kind = ChangeKind::removed,
                         .part = "mounts",
                         .key = "/a",
                         .before = R"({"destination":"/a"})",
                         .from = 3}) == R"(removed mounts[3]: {"destination":"/a"})");
  CHECK(to_string(Change{.kind = ChangeKind::moved,
                         .part = "mounts",
                         .key = "/a",
                         .before = "{}",
                         .after = "{}",
                         .from = 3,
                         .to = 1}) == "moved mounts[3]: {} -> [1]");
}

TEST_CASE("An entry that the target cannot tell is unknown") {
  CHECK(to_string(Change{.kind = ChangeKind::replaced, .part = "linux.intelRdt", .after = "{}"}) ==
        "replaced linux.intelRdt: (unknown) -> {}");
}

TEST_CASE("No text of an entry makes a second line, and JSON stays as it is") {
  const Change change{.part = "process.env", .after = "A=\"\\1\n\x1b[2J\xff"};
  CHECK(to_string(change) == "added process.env: A=\"\\1\\n\\x1b[2J\\xff");
}

TEST_CASE("Each kind has a code") {
  CHECK(name_of(ChangeKind::added) == "added");
  CHECK(name_of(ChangeKind::moved) == "moved");
}
