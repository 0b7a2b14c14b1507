// Locks on files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <fcntl.h>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <cdi/files/lock.hpp>

#include "../../support/temp_tree.hpp"

namespace {

/// The lock of a file, waiting for `turns` questions.
cdi::Result<cdi::FileLock> open_lock(const std::string& path, int turns = 0) {
  return cdi::FileLock::open(AT_FDCWD, path, path, [&] { return turns-- > 0; });
}

}  // namespace

TEST_CASE("A lock belongs to one holder until it ends") {
  const TempTree tree;
  const auto path = tree / "lock";
  auto first = open_lock(path);
  REQUIRE(first);
  struct stat info = {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const auto second = open_lock(path, 2);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == cdi::Errc::timeout);
  CHECK(second.error().position.file == path);
  *first = cdi::FileLock{};
  CHECK(open_lock(path));
}

TEST_CASE("A lock that is waited for") {
  const TempTree tree;
  const auto path = tree / "lock";
  auto first = open_lock(path);
  REQUIRE(first);
  int turns = 0;
  CHECK(cdi::FileLock::open(AT_FDCWD, path, path, [&] {
    if (++turns == 2) *first = cdi::FileLock{};
    return turns < 10;
  }));
  CHECK(turns == 2);
}

TEST_CASE("A file that cannot be a lock") {
  const TempTree tree;
  CHECK(open_lock(tree / "none/lock").error().code == cdi::Errc::system);
  CHECK_FALSE(cdi::detail::try_lock(-1));
}
