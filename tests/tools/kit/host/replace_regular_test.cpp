// Replacing a file that a user names.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/replace_regular.hpp"

#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

TEST_CASE("A regular file is replaced, and a missing one is made, with the attributes") {
  const TempTree tree;
  tree.put("old", "old");
  for (const std::string name : {"old", "new"}) {
    REQUIRE(tools::replace_regular(tree / name, "text", "", {.mode = 0600}));
    CHECK_EQ(get_file(tree / name), "text");
    CHECK_EQ(mode_of(tree / name), 0600U);
  }
}

TEST_CASE("Anything else stays") {
  const TempTree tree;
  tree.put("old", "old");
  tree.make_dir("directory");
  REQUIRE_EQ(::mkfifo((tree / "fifo").c_str(), 0600), 0);
  REQUIRE_EQ(::symlink("old", (tree / "link").c_str()), 0);
  for (const std::string name : {"directory", "fifo", "link"}) {
    CAPTURE(name);
    struct stat before = {};
    struct stat after = {};
    REQUIRE_EQ(::lstat((tree / name).c_str(), &before), 0);
    const auto done = tools::replace_regular(tree / name, "text", "use another file");
    REQUIRE_FALSE(done);
    CHECK_EQ(to_string(done.error()), tree / name + ": not a regular file: use another file");
    REQUIRE_EQ(::lstat((tree / name).c_str(), &after), 0);
    CHECK_EQ(before.st_ino, after.st_ino);
  }
  CHECK_EQ(get_file(tree / "old"), "old");
}
