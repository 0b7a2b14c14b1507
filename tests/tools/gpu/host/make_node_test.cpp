// Device nodes that cannot be made.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/host/make_node.hpp"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

using namespace prepare;

namespace {

/// The error of a node that is made below a root; 0 if it was made.
int error_of(const std::string& root, const std::string& path) {
  tools::HostNode node;
  node.path = path;
  node.major = 195;
  node.mode = 0666;
  const auto made = make_node(root, node);
  return made ? 0 : made.error().system;
}

}  // namespace

TEST_CASE("no node is made in the place of a file, or below one") {
  const TempTree tree;
  tree.make_dir("dev");
  tree.put("dev/nvidia0", "mine");
  CHECK(error_of(tree.path(), "/dev/nvidia0") == EEXIST);
  CHECK(error_of(tree.path(), "/dev/nvidia0/x") == ENOTDIR);
  CHECK(error_of(tree / "nothing", "/dev/nvidia1") == ENOENT);
  CHECK(get_file(tree / "dev/nvidia0") == "mine");
}

TEST_CASE("only nodes in /dev get a link in /dev/char") {
  const TempTree tree;
  tree.make_dir("dev");
  tree.make_dir("dev/char");
  tools::HostNode node;
  node.major = 195;
  node.path = "/run/driver/dev/nvidia0";
  make_char_link(tree.path(), node);
  CHECK(tree.names().size() == 1);
  node.path = "/dev/nvidia0";
  make_char_link(tree / "nothing", node);
  make_char_link(tree.path(), node);
  CHECK(mode_of(tree / "dev/char/195:0") != 0);
}
