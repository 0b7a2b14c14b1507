// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <cdi/dirs/scanner.hpp>

#include "../../temp_tree.hpp"

TEST_CASE("What was changed a moment before it was read is not trusted to be the same") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  const cdi::ReadOptions options;
  constexpr auto everything = cdi::detail::LookAt::everything;
  const auto scan = cdi::detail::Scanner{options}.scan({a}, nullptr, everything);
  auto file = std::make_shared<cdi::detail::ScannedFile>(*scan->dirs.at(0)->files.at(0));
  file->file.settled = true;
  auto dir = *scan->dirs[0];
  dir.files = {file};
  dir.settled = true;
  CHECK(is_same(dir, everything));
  dir.settled = false;
  CHECK_FALSE(is_same(dir, everything));
  dir.settled = true;
  file->file.settled = false;
  CHECK_FALSE(is_same(dir, everything));
  CHECK_FALSE(is_same(dir, cdi::detail::LookAt::what_is_not_watched));
}

TEST_CASE("A rejected file that is about something else now is another one, with the same fault") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const cdi::ReadOptions options{.patience = {}};
  const cdi::detail::Scanner scanner{options};
  constexpr auto everything = cdi::detail::LookAt::everything;
  tree.put("a/x.yaml", "odd: 1\nkind: v/a\n");
  const auto first = scanner.scan({a}, nullptr, everything);
  CHECK(first->registry->unresolved({"v/a=d"}).at(0).reason == cdi::Reason::rejected);
  tree.put("a/x.yaml", "odd: 1\nkind: v/b\n");
  const auto second = scanner.scan({a}, first, everything);
  CHECK(second->registry->unresolved({"v/b=d"}).at(0).reason == cdi::Reason::rejected);
}

TEST_CASE("What is no file keeps nobody from seeing that nothing has changed") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.link("gone", "a/dangling.yaml");
  tree.link("loop.yaml", "a/loop.yaml");
  REQUIRE(::mkfifo((tree / "a/fifo.yaml").c_str(), 0600) == 0);
  const cdi::ReadOptions options;
  constexpr auto everything = cdi::detail::LookAt::everything;
  auto dir = *cdi::detail::Scanner{options}.scan({a}, nullptr, everything)->dirs.at(0);
  dir.settled = true;
  CHECK(is_same(dir, everything));
  tree.put_spec("a/gone", "d");
  CHECK_FALSE(is_same(dir, everything));
}
