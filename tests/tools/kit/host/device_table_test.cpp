// The table of device nodes of a tree that has none.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/device_table.hpp"

#include <cerrno>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

using tools::HostNode;
using tools::parse_device_table;
using tools::permits;

TEST_CASE("A device table has a row for each node; empty lines and comments do not count") {
  const auto table = parse_device_table(
      "# nodes\n\n/dev/null c 1 3 0666 0 0\r\n  /dev/sda\tb 8 0 0660 0 6\n \n/dev/sda b 8 1 0660 0 "
      "6\n");
  REQUIRE(table);
  REQUIRE(table->size() == 2);
  const auto& null = table->at("/dev/null");
  CHECK(null.type == 'c');
  CHECK(null.major == 1);
  CHECK(null.minor == 3);
  CHECK(null.mode == 0666);
  CHECK(table->at("/dev/sda").type == 'b');
  CHECK(table->at("/dev/sda").gid == 6);
  CHECK(table->at("/dev/sda").minor == 1);  // the last row of a path counts
}

TEST_CASE("A row that is not whole is an error that shows the row") {
  for (const std::string row :
       {"/dev/a", "/dev/a c 1 3 0666 0", "/dev/a c 1 3 0666 0 0 0", "/dev/a p 1 3 0666 0 0",
        "/dev/a c x 3 0666 0 0", "/dev/a c 1 x 0666 0 0", "/dev/a c 1 3 0888 0 0",
        "/dev/a c 1 3 0666 x 0", "/dev/a c 1 3 0666 0 x", "/dev/a c 1 3 0666 0 -1",
        "/dev/a c -1 3 0666 0 0", "/dev/a c 1 -3 0666 0 0"}) {
    CAPTURE(row);
    const auto table = parse_device_table("/dev/null c 1 3 0666 0 0\n" + row + "\n");
    REQUIRE_FALSE(table);
    CHECK(table.error().system == EINVAL);
    CHECK(table.error().message.find(row) != std::string::npos);
  }
}

TEST_CASE("The row of a node is read back as the node") {
  const HostNode node{
      .path = "/dev/sda", .type = 'b', .major = 8, .minor = 17, .mode = 0640, .uid = 5, .gid = 6};
  const auto row = tools::device_row(node);
  CHECK(row == "/dev/sda b 8 17 0640 5 6\n");
  const auto table = parse_device_table(row);
  REQUIRE(table);
  CHECK(tools::device_row(table->at("/dev/sda")) == row);
}

TEST_CASE("Root may use each node; others need the bits of owner, group or all") {
  const HostNode secret{.mode = 0, .uid = 1};
  if (::geteuid() == 0) CHECK(permits(secret, true));
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const auto me = ::geteuid();
  const auto mine = ::getegid();
  struct {
    std::uint32_t mode;
    uid_t uid;
    gid_t gid;
    bool may_read;
    bool may_write;
  } const rows[] = {
      {0600, me, mine + 1, true, true},       {0400, me, mine + 1, true, false},
      {0066, me, mine, false, false},         {0060, me + 1, mine, true, true},
      {0040, me + 1, mine, true, false},      {0606, me + 1, mine, false, false},
      {0006, me + 1, mine + 1, true, true},   {0004, me + 1, mine + 1, true, false},
      {0660, me + 1, mine + 1, false, false}, {0200, me, mine, false, false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.mode);
    CAPTURE(row.uid == me);
    const HostNode node{.mode = row.mode, .uid = row.uid, .gid = row.gid};
    CHECK(permits(node, false) == row.may_read);
    CHECK(permits(node, true) == row.may_write);
  }
}
