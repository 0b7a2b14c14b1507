// Changes of configuration files while other programs change them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/configure/file_edit.hpp"

#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../support/temp_tree.hpp"

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
