// Directories that cannot be opened, and paths that cannot be resolved.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/host/directories.hpp"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

using namespace prepare;

TEST_CASE("paths that lead nowhere are not opened") {
  const TempTree tree;
  for (const auto missing : {Missing::made, Missing::stays}) {
    for (const auto& path : {std::string{"relative"}, tree / "../x"}) {
      const auto opened = open_directory({}, path, missing);
      REQUIRE_FALSE(opened);
      CHECK(opened.error().system == ENOENT);
    }
    const auto opened = open_directory({}, tree / std::string{"a\0b", 3}, missing);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().system == EINVAL);
  }
  CHECK(tree.names().empty());
}

TEST_CASE("a root that cannot be opened is an error, and changes no path") {
  const TempTree tree;
  tree.put("file", "");
  HostOptions options;
  options.root = tree / "file";
  const auto path = options.root + "/var/run";
  CHECK(resolved(options, path) == path);
  const auto opened = open_directory(options, path, Missing::stays);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().system == ENOTDIR);
}
