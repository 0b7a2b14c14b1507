// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <cdi/dirs/scanned_dir.hpp>
#include <cdi/dirs/scanner.hpp>

#include "../../support/temp_tree.hpp"

TEST_CASE("A file or directory that changed just before it was read counts as changed") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  const cdi::ReadOptions options;
  constexpr auto everything = cdi::detail::ScanScope::everything;
  const auto scan = cdi::detail::Scanner{options}.scan({a}, nullptr, everything);
  auto file = std::make_shared<cdi::detail::ScannedFile>(*scan->dirs.at(0)->files.at(0));
  file->file.stable = true;
  auto dir = *scan->dirs[0];
  dir.files = {file};
  dir.stable = true;
  CHECK(is_unchanged(dir, everything));
  dir.stable = false;
  CHECK_FALSE(is_unchanged(dir, everything));
  dir.stable = true;
  file->file.stable = false;
  CHECK_FALSE(is_unchanged(dir, everything));
  CHECK_FALSE(is_unchanged(dir, cdi::detail::ScanScope::unwatched));
}

TEST_CASE("A name that is not a regular file does not force a rescan") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.link("gone", "a/dangling.yaml");
  tree.link("loop.yaml", "a/loop.yaml");
  REQUIRE(::mkfifo((tree / "a/fifo.yaml").c_str(), 0600) == 0);
  const cdi::ReadOptions options;
  constexpr auto everything = cdi::detail::ScanScope::everything;
  auto dir = *cdi::detail::Scanner{options}.scan({a}, nullptr, everything)->dirs.at(0);
  dir.stable = true;
  CHECK(is_unchanged(dir, everything));
  tree.put_spec("a/gone", "d");
  CHECK_FALSE(is_unchanged(dir, everything));
}

TEST_CASE("A file is found by its name") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto* name : {"a/b.yaml", "a/d.yaml", "a/f.yaml"}) tree.put_spec(name, "d");
  const cdi::ReadOptions options;
  const auto scan =
      cdi::detail::Scanner{options}.scan({a}, nullptr, cdi::detail::ScanScope::everything);
  const auto& dir = *scan->dirs.at(0);
  for (const auto* name : {"b.yaml", "d.yaml", "f.yaml"}) {
    const auto found = cdi::detail::find_scanned_file(dir, name);
    REQUIRE(found);
    CHECK(found->name == name);
  }
  for (const auto* name : {"a.yaml", "c.yaml", "e.yaml", "g.yaml", ""}) {
    CHECK(cdi::detail::find_scanned_file(dir, name) == nullptr);
  }
  CHECK(cdi::detail::find_scanned_file({}, "b.yaml") == nullptr);
}
