// Tests for include/cdi/apply/device_nodes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/apply/device_nodes.hpp>

namespace {

using cdi::detail::NodeView;

/// A host with one character device, `/dev/null`, that counts how often it is asked.
struct Host {
  mutable int asked = 0;

  cdi::Result<cdi::HostNode> operator()(std::string_view path) const {
    ++asked;
    if (path == "/dev/null") return cdi::HostNode{'c', 1, 3, 0666};
    return cdi::Error{.code = cdi::Errc::host, .message = "no such node"};
  }
};

cdi::Error error_of(NodeView node) {
  Host host;
  const auto done = cdi::detail::complete_device(node, cdi::detail::HostRef{host}, {});
  REQUIRE_FALSE(done);
  return done.error();
}

}  // namespace

TEST_CASE("The host completes a node that lacks type, numbers or mode") {
  struct {
    std::string_view what;
    NodeView node;
    NodeView expected;
    int asked;
  } const rows[] = {
      {"nothing given",
       {.path = "/dev/null"},
       {.path = "/dev/null", .type = "c", .major = 1, .minor = 3, .file_mode = 0666},
       1},
      {"another path in the container",
       {.path = "/x", .host_path = "/dev/null"},
       {.path = "/x",
        .host_path = "/dev/null",
        .type = "c",
        .major = 1,
        .minor = 3,
        .file_mode = 0666},
       1},
      {"specified, without mode: the host need not have it",
       {.path = "/dev/gone", .type = "b", .major = 9},
       {.path = "/dev/gone", .type = "b", .major = 9},
       1},
      {"specified, without mode: only the mode is the host's",
       {.path = "/dev/null", .type = "b", .major = 9, .minor = 2},
       {.path = "/dev/null", .type = "b", .major = 9, .minor = 2, .file_mode = 0666},
       1},
      {"a number without a type: the type is the host's",
       {.path = "/dev/null", .major = 9, .minor = 2},
       {.path = "/dev/null", .type = "c", .major = 9, .minor = 2, .file_mode = 0666},
       1},
      {"all given",
       {.path = "/dev/gone", .type = "c", .major = 9, .file_mode = 0},
       {.path = "/dev/gone", .type = "c", .major = 9, .file_mode = 0},
       0},
      {"a FIFO has no numbers",
       {.path = "/dev/gone", .type = "p", .file_mode = 0600},
       {.path = "/dev/gone", .type = "p", .file_mode = 0600},
       0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    Host host;
    auto node = row.node;
    REQUIRE(cdi::detail::complete_device(node, cdi::detail::HostRef{host}, {}));
    CHECK(node == row.expected);
    CHECK(host.asked == row.asked);
  }
}

TEST_CASE("A node that the host does not have, or has with another type, is an error") {
  CHECK(error_of({.path = "/dev/gone"}).code == cdi::Errc::host);
  CHECK(error_of({.path = "/dev/gone", .type = "c"}).code == cdi::Errc::host);
  const auto other = error_of({.path = "/dev/null", .type = "b"});
  CHECK(other.code == cdi::Errc::host);
  CHECK(other.where == "type");
  CHECK(other.message.find("\"/dev/null\" is of type \"c\", not \"b\"") != std::string::npos);
}

TEST_CASE("A negative device number is an error, because runc takes -1 for every number") {
  const auto of_major = error_of({.path = "/dev/a", .type = "c", .major = -1});
  CHECK(of_major.code == cdi::Errc::invalid);
  CHECK(of_major.where == "major");
  CHECK(of_major.message ==
        "device number -1 is negative: in a device cgroup, runc takes -1 for every number");
  const auto of_minor = error_of({.path = "/dev/null", .minor = -1});  // the host has its numbers
  CHECK(of_minor.code == cdi::Errc::invalid);
  CHECK(of_minor.where == "minor");
}

TEST_CASE("A node gets the user and group of the process unless it has its own, or they are root") {
  Host host;
  NodeView node{.path = "/dev/null", .uid = 7};
  REQUIRE(cdi::detail::complete_device(node, cdi::detail::HostRef{host}, {.uid = 5, .gid = 6}));
  CHECK(node.uid == 7U);
  CHECK(node.gid == 6U);
  NodeView of_group{.path = "/dev/null", .gid = 0};
  REQUIRE(cdi::detail::complete_device(of_group, cdi::detail::HostRef{host}, {.uid = 1, .gid = 1}));
  CHECK(of_group.uid == 1U);
  CHECK(of_group.gid == 0U);
  NodeView of_none{.path = "/dev/null"};
  REQUIRE(cdi::detail::complete_device(of_none, cdi::detail::HostRef{host}, {.gid = 1}));
  CHECK_FALSE(of_none.uid);
  CHECK(of_none.gid == 1U);
  NodeView of_root{.path = "/dev/null"};
  REQUIRE(cdi::detail::complete_device(of_root, cdi::detail::HostRef{host}, {}));
  CHECK_FALSE(of_root.uid);
  CHECK_FALSE(of_root.gid);
}

TEST_CASE("A node of the container has all that the edit states, but not the permissions") {
  CHECK(cdi::detail::linux_device({.path = "/x",
                                   .host_path = "/h",
                                   .type = "b",
                                   .major = 1,
                                   .minor = 2,
                                   .file_mode = 3,
                                   .permissions = "r",
                                   .uid = 4,
                                   .gid = 5}) ==
        cdi::oci::LinuxDeviceView{
            .path = "/x", .type = "b", .major = 1, .minor = 2, .file_mode = 3, .uid = 4, .gid = 5});
  const auto least = cdi::detail::linux_device({.path = "/x", .type = "c"});
  CHECK(least == cdi::oci::LinuxDeviceView{.path = "/x", .type = "c"});
}

TEST_CASE("The cgroup rule of a node allows what its permissions say") {
  struct {
    std::string_view type;
    std::string_view permissions;
    bool allow;
    std::string_view access;
  } const rows[] = {
      {"c", "", true, "rwm"},  {"b", "r", true, "r"},   {"c", "none", true, ""},
      {"p", "", false, "rwm"}, {"u", "", false, "rwm"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.permissions);
    const NodeView node{
        .path = "/x", .type = row.type, .major = 4, .minor = 5, .permissions = row.permissions};
    const auto rule = cdi::detail::device_rule(node);
    CHECK(rule.allow == row.allow);
    CHECK(rule.type == row.type);
    CHECK(rule.access == row.access);
    CHECK(rule.major == 4);
    CHECK(rule.minor == 5);
  }
}
