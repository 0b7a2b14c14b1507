// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/base/member_path.hpp>

using cdi::detail::MemberPath;

TEST_CASE("A path names each member, with the index of an item") {
  const MemberPath root;
  CHECK(root.text() == "");
  const MemberPath device{&root, "devices", 2};
  CHECK(device.text() == "devices[2]");
  const MemberPath name{&device, "name"};
  CHECK(name.text() == "devices[2].name");
  const MemberPath first{nullptr, "env", 0};
  CHECK(first.text() == "env[0]");
}
