// Tests for include/cdi/dirs/scanned_dir.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/scanned_dir.hpp>
#include <cdi/dirs/scanner.hpp>

#include "../../support/cache_tree.hpp"

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
  dir.unwatched = {0};
  dir.stable = true;
  CHECK(is_unchanged(dir, everything));
  dir.stable = false;
  CHECK_FALSE(is_unchanged(dir, everything));
  dir.stable = true;
  file->file.stable = false;
  CHECK_FALSE(is_unchanged(dir, everything));
  CHECK_FALSE(is_unchanged(dir, cdi::detail::ScanScope::unwatched));
}

TEST_CASE("Beside inotify, only links and files that were just written are looked at") {
  using cdi::detail::ScanScope;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("target", "one");
  tree.link("../target", "a/link.yaml");
  const cdi::ReadOptions options;
  const cdi::detail::Scanner scanner{options};
  std::shared_ptr<const cdi::detail::Scan> scan;
  REQUIRE(eventually([&] {  // a scan within a clock tick of the write
    tree.put_spec("a/x.yaml", "one");
    scan = scanner.scan({a}, nullptr, ScanScope::everything);
    return scan->dirs[0]->unwatched == std::vector<std::size_t>{0, 1};
  }));
  REQUIRE(eventually([&] {
    scan = scanner.scan({a}, scan, ScanScope::everything);
    return scan->dirs[0]->stable && scan->dirs[0]->unwatched.size() == 1;
  }));
  const auto& dir = *scan->dirs[0];
  CHECK(dir.files[dir.unwatched[0]]->name == "link.yaml");
  tree.put_spec("a/x.yaml", "two");
  CHECK(is_unchanged(dir, ScanScope::unwatched));
  CHECK_FALSE(is_unchanged(dir, ScanScope::everything));
  tree.put_spec("target", "two");
  CHECK_FALSE(is_unchanged(dir, ScanScope::unwatched));
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

TEST_CASE("Files are found by names in ascending order") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto* name : {"a/b.yaml", "a/d.yaml", "a/f.yaml"}) tree.put_spec(name, "d");
  const cdi::ReadOptions options;
  const auto scan =
      cdi::detail::Scanner{options}.scan({a}, nullptr, cdi::detail::ScanScope::everything);
  const std::vector<std::string> all{"",       "a.yaml", "b.yaml", "c.yaml",
                                     "d.yaml", "e.yaml", "f.yaml", "g.yaml"};
  // Each choice of names, so that each file is skipped in some, and found in others.
  for (std::size_t chosen = 0; chosen < 256; ++chosen) {
    cdi::detail::FilesByName files{*scan->dirs.at(0)};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      const auto found = files.find(all[i]);
      const bool is_there = all[i] == "b.yaml" || all[i] == "d.yaml" || all[i] == "f.yaml";
      REQUIRE((found != nullptr) == is_there);
      if (found) CHECK(found->name == all[i]);
    }
  }
  CHECK(cdi::detail::FilesByName{{}}.find("b.yaml") == nullptr);
}
