// Changes of configuration files while other programs change them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/configure/file_edit.hpp"

#include <cerrno>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

using namespace prepare;

TEST_CASE("a file that was created since it was missing is left alone") {
  const TempTree tree;
  const auto path = tree / "new.json";
  configure::FileEdit edit;
  edit.path = path;
  edit.after = "ours";
  put_file(path, "theirs");
  const auto made = configure::make({}, edit);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == cdi::Errc::conflict);
  CHECK(made.error().message.find("just created") != std::string::npos);
  CHECK(get_file(path) == "theirs");
  CHECK(tree.names().size() == 1);
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(configure::make({}, edit));
  CHECK(get_file(path) == "ours");
}

TEST_CASE("a file that was changed since it was read is left alone") {
  const TempTree tree;
  configure::FileEdit edit{.path = tree / "old.json", .before = "old", .after = "ours"};
  const auto error = [&] {
    const auto made = configure::make({}, edit);
    return made ? "" : made.error().message;
  };
  CHECK(error().find("just changed") != std::string::npos);
  put_file(edit.path, "theirs");
  CHECK(error().find("just changed") != std::string::npos);
  edit.after.reset();
  CHECK(error().find("just changed") != std::string::npos);
  CHECK(get_file(edit.path) == "theirs");
  put_file(edit.path, "old");
  CHECK(error().empty());
  CHECK(tree.names().empty());
}

TEST_CASE("a file whose directory, or the file that it is like, cannot be opened is not made") {
  const TempTree tree;
  tree.put("file", "");
  configure::FileEdit edit{.path = tree / "file/new.json", .after = "ours"};
  const auto error = [&] {
    const auto made = configure::make({}, edit);
    return made ? 0 : made.error().system;
  };
  CHECK(error() == ENOTDIR);
  edit.path = tree / "new.json";
  edit.like = tree / "file/like.json";
  CHECK(error() == ENOTDIR);
  edit.like = tree / std::string(300, 'n');
  CHECK(error() == ENAMETOOLONG);
  edit.like.clear();
  edit.path = tree / std::string(300, 'n');
  CHECK(error() == ENAMETOOLONG);
  CHECK(tree.names().size() == 1);
}

TEST_CASE("a file in the top directory is made there") {
  const TempTree tree;
  prepare::HostOptions options;
  options.root = tree.path();
  REQUIRE(configure::make(options, {.path = tree / "new.json", .after = "ours"}));
  CHECK(get_file(tree / "new.json") == "ours");
}

TEST_CASE("an edit that changes nothing has no difference") {
  CHECK(configure::diff_of({.path = "/a", .before = "x\n", .after = "x\n"}).empty());
  CHECK(configure::diff_of({.path = "/a", .before = "x\n", .after = "\ty\x1b"}) ==
        "--- /a\n+++ /a\n@@ -1,1 +1,1 @@\n-x\n+\ty\\x1b\n\\ No newline at end of file\n");
}
