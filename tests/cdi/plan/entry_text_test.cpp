// Tests for include/cdi/plan/entry_text.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>

#include <doctest/doctest.h>

#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/plan/entry_text.hpp>

using cdi::detail::describe;

TEST_CASE("Entries have the keys by which `apply` finds them") {
  CHECK(describe(std::string_view{"A=1=2"}).key == "A");
  CHECK(describe(std::string_view{"A=1=2"}).text == "A=1=2");
  CHECK(describe(std::string_view{"A"}).key == "A");
  CHECK(describe(7U).key == "7");
  CHECK(describe(7U).text == "7");
  cdi::oci::LinuxDeviceView node;
  node.path = "/dev/a";
  node.type = "c";
  node.major = 1;
  CHECK(describe(node).key == "/dev/a");
  CHECK(describe(node).text == R"({"path":"/dev/a","type":"c","major":1,"minor":0})");
  cdi::oci::MountView mount;
  mount.destination = "/a\n";
  CHECK(describe(mount).key == "/a\n");
  CHECK(describe(mount).text == R"({"destination":"/a\n"})");
  cdi::oci::HookView hook;
  hook.path = "/bin/h";
  CHECK(describe(hook).key == "/bin/h");
}

TEST_CASE("The key of a cgroup rule has its type and numbers") {
  cdi::oci::LinuxDeviceCgroupView rule;
  rule.type = "c";
  CHECK(describe(rule).key == "c *:*");
  rule.major = 195;
  rule.minor = 0;
  CHECK(describe(rule).key == "c 195:0");
}

TEST_CASE("Equal entries get equal texts, with the members that are not known") {
  using cdi::detail::rewrite_mount;
  CHECK(rewrite_mount(R"({ "source": "/s", "destination": "/d", "x": 1.50 })") ==
        R"({"destination":"/d","source":"/s","x":1.50})");
  CHECK(cdi::detail::rewrite_node(R"({"minor":2,"path":"/p","type":"c"})") ==
        R"({"path":"/p","type":"c","major":0,"minor":2})");
}

TEST_CASE("A text that is not such an entry stays as it is") {
  for (const std::string_view text : {"", "[1]", R"({"destination":1})", "{"}) {
    CHECK(cdi::detail::rewrite_mount(text) == text);
  }
}
