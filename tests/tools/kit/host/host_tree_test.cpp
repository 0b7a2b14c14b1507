// The files of a host below a root.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/host_tree.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/result.hpp>

#include "../../../support/temp_tree.hpp"

namespace {

using tools::HostTree;
using Files = std::vector<std::pair<std::string, std::string>>;

HostTree open_tree(const TempTree& place) {
  auto tree = HostTree::open(place.path());
  REQUIRE(tree);
  return std::move(*tree);
}

Files files(const HostTree& tree, std::string_view path) {
  Files found;
  for (auto& [name, real_path] : tree.files(path, [](const auto&) { return true; })) {
    found.emplace_back(std::move(name), std::move(real_path));
  }
  return found;
}

/// `/lib` leads to `/usr/lib`, as on most hosts.
struct MergedUsr {
  TempTree place{};
  HostTree tree = open_tree(place);

  MergedUsr() {
    place.make_dir("usr");
    place.make_dir("usr/lib");
    place.make_dir("opt");
    place.link("usr/lib", "lib");
    place.put("usr/lib/a.so.1.2", "abc");
    place.put("opt/b.so.3", "b");
  }
};

TEST_CASE_FIXTURE(MergedUsr, "a real path has no link in it") {
  place.link("a.so.1.2", "usr/lib/a.so");
  place.link("../../opt/../lib/./a.so", "usr/lib/around.so");
  place.link("/lib/a.so", "usr/lib/absolute.so");
  for (const auto* path : {"/usr/lib/a.so.1.2", "/lib/a.so.1.2", "lib//a.so", "/lib/../lib/a.so",
                           "/lib/around.so", "/lib/absolute.so"}) {
    CAPTURE(path);
    CHECK(tree.real_path(path) == "/usr/lib/a.so.1.2");
  }
  CHECK(tree.real_path("/lib") == "/usr/lib");
  CHECK(tree.real_path("/lib/..") == "/usr");
  CHECK(tree.real_path("/usr/../lib/.") == "/usr/lib");
}

TEST_CASE_FIXTURE(MergedUsr, "the real path of the root, however it is written") {
  for (const auto* path : {"/", "", ".", "/..", "/usr/..", "/lib/../.."}) {
    CHECK(tree.real_path(path) == "/");
  }
}

TEST_CASE_FIXTURE(MergedUsr, "a missing file has no real path") {
  place.link("nowhere", "usr/lib/dangling.so");
  place.link("circle.so", "usr/lib/circle.so");
  for (const auto* path : {"/none", "/lib/dangling.so", "/lib/circle.so", "/lib/a.so.1.2/x"}) {
    CHECK_FALSE(tree.real_path(path));
  }
}

TEST_CASE_FIXTURE(MergedUsr, "a link that leads out of the tree ends in it") {
  const TempTree outside;
  outside.put("secret.so", "x");
  place.link((outside / "secret.so").c_str(), "usr/lib/secret.so");
  place.link("../../../../../../../etc/passwd", "usr/lib/passwd.so");
  place.link(outside.path().c_str(), "usr/out");
  CHECK_FALSE(tree.real_path("/lib/secret.so"));
  CHECK_FALSE(tree.real_path("/lib/passwd.so"));
  CHECK(files(tree, "/lib") == Files{{"a.so.1.2", "/usr/lib/a.so.1.2"}});
  CHECK(files(tree, "/usr/out").empty());
  place.make_dir("etc");
  place.put("etc/passwd", "of the tree");
  CHECK(tree.real_path("/lib/passwd.so") == "/etc/passwd");
}

TEST_CASE_FIXTURE(MergedUsr, "files of a directory: regular ones, and links that lead to such") {
  place.link("a.so.1.2", "usr/lib/a.so.1");
  place.link("a.so.1", "usr/lib/a.so");
  place.link("/lib/a.so.1", "usr/lib/back.so");
  place.link("../lib/a.so.1", "usr/lib/back-too.so");
  place.link("/opt/b.so.3", "usr/lib/b.so");
  place.link("../../opt/b.so.3", "usr/lib/b2.so");
  place.link("b.so", "usr/lib/b3.so");
  place.link("nowhere", "usr/lib/dangling.so");
  place.link("circle.so", "usr/lib/circle.so");
  place.link(".", "usr/lib/dot.so");
  place.link("..", "usr/lib/up.so");
  place.link("/opt/", "usr/lib/directory.so");
  place.make_dir("usr/lib/deep");
  REQUIRE(::mkfifo((place / "usr/lib/pipe.so").c_str(), 0644) == 0);
  const std::string a = "/usr/lib/a.so.1.2";
  const std::string b = "/opt/b.so.3";
  const Files expected{{"a.so", a},  {"a.so.1", a}, {"a.so.1.2", a},    {"b.so", b},
                       {"b2.so", b}, {"b3.so", b},  {"back-too.so", a}, {"back.so", a}};
  CHECK(files(tree, "/usr/lib") == expected);
  CHECK(files(tree, "/lib/") == expected);
}

TEST_CASE_FIXTURE(MergedUsr, "files of the root") {
  place.put("a", "");
  place.link("/lib/a.so.1.2", "b");
  place.link("./a", "c");
  CHECK(files(tree, "/") == Files{{"a", "/a"}, {"b", "/usr/lib/a.so.1.2"}, {"c", "/a"}});
}

TEST_CASE_FIXTURE(MergedUsr, "a file has no files in it") {
  CHECK(files(tree, "/none").empty());
  CHECK(files(tree, "/lib/a.so.1.2").empty());
}

TEST_CASE_FIXTURE(MergedUsr, "a chain of links is as long as the kernel allows") {
  place.put("opt/0", "");
  for (int i = 1; i <= 41; ++i) {
    place.link(std::to_string(i - 1).c_str(), "opt/" + std::to_string(i));
  }
  CHECK(tree.real_path("/opt/40") == "/opt/0");
  CHECK_FALSE(tree.real_path("/opt/41"));
  const auto found = files(tree, "/opt");
  CHECK(found.size() == 42);  // 0 to 40, and b.so.3
}

TEST_CASE_FIXTURE(MergedUsr, "a directory that cannot be listed is not an empty one") {
  place.make_dir("empty");
  const auto empty = tree.names("/empty");
  REQUIRE(empty);
  CHECK(empty->empty());
  const auto system = [&](std::string_view path) {
    const auto names = tree.names(path);
    return names ? 0 : names.error().system;
  };
  CHECK(system("/none") == ENOENT);
  CHECK(system("/lib/a.so.1.2") == ENOTDIR);
  CHECK(tree.list("/lib/a.so.1.2").empty());
}

TEST_CASE_FIXTURE(MergedUsr, "descriptors are closed") {
  const auto before = open_files();
  static_cast<void>(files(tree, "/lib"));
  static_cast<void>(files(tree, "/lib/a.so.1.2"));
  static_cast<void>(tree.list("/lib"));
  static_cast<void>(tree.list("/lib/a.so.1.2"));
  static_cast<void>(tree.real_path("/lib/a.so.1.2"));
  static_cast<void>(tree.first_bytes("/lib/a.so.1.2", 2));
  CHECK(open_files() == before);
}

TEST_CASE_FIXTURE(MergedUsr, "the first bytes of a file") {
  CHECK(tree.first_bytes("/lib/a.so.1.2", 2) == "ab");
  CHECK(tree.first_bytes("/lib/a.so.1.2", 9) == "abc");
  CHECK(tree.first_bytes("/lib", 2).empty());
  CHECK(tree.first_bytes("/none", 2).empty());
  REQUIRE(::mkfifo((place / "pipe").c_str(), 0644) == 0);
  CHECK(tree.first_bytes("/pipe", 2).empty());
}

TEST_CASE_FIXTURE(MergedUsr, "a limit of its own for what is read") {
  CHECK(tree.read("/lib/a.so.1.2", 3));
  const auto too_large = tree.read("/lib/a.so.1.2", 2);
  REQUIRE_FALSE(too_large);
  CHECK(too_large.error().code == cdi::Errc::limit);
  place.put("large", std::string((1 << 20) + 1, 'x'));
  CHECK_FALSE(tree.read("/large"));
  CHECK(tree.read("/large", 2 << 20));
}

TEST_CASE_FIXTURE(MergedUsr, "what is executable is a program") {
  place.put("opt/run", "#!/bin/sh\n");
  CHECK_FALSE(tree.is_program("/opt/run"));
  REQUIRE(::chmod((place / "opt/run").c_str(), 0755) == 0);
  CHECK(tree.is_program("/opt/run"));
  place.link("/opt/run", "usr/run");
  CHECK(tree.is_program("/usr/run"));
  CHECK_FALSE(tree.is_program("/opt"));
  CHECK_FALSE(tree.is_program("/none"));
}

TEST_CASE_FIXTURE(MergedUsr, "the status belongs to the target of a path") {
  CHECK(S_ISDIR(tree.status("/lib").st_mode));
  CHECK(S_ISREG(tree.status("/lib/a.so.1.2").st_mode));
  CHECK(tree.status("/lib/a.so.1.2").st_uid == ::geteuid());
  CHECK(tree.status("/none").st_mode == 0);
}

TEST_CASE_FIXTURE(MergedUsr, "nodes in the dev of another directory") {
  place.put("dev.tab", "/opt/dev/null c 1 3 0666 0 0\n/dev/zero c 1 5 0666 0 0\n");
  place.make_dir("opt/dev");
  place.put("opt/dev/file", "");
  auto other = open_tree(place);
  CHECK_FALSE(other.node("/dev/null"));
  CHECK(other.node("/dev/zero")->place() == "/dev/zero");
  other.set_dev_root("/opt");
  const auto node = other.node("/dev/null");
  REQUIRE(node);
  CHECK(node->path == "/dev/null");
  CHECK(node->place() == "/opt/dev/null");
  CHECK(other.may_open(*node));
  CHECK_FALSE(other.node("/dev/zero"));
  CHECK(other.list("/dev") == std::vector<std::string>{"file"});
  CHECK(other.exists("/opt/b.so.3"));  // outside of /dev, all is as before
}

TEST_CASE_FIXTURE(MergedUsr, "a node of the device table is open to those whom its mode allows") {
  place.put("dev.tab", "/dev/a c 1 3 0400 0 0\n/dev/b c 1 3 0600 0 0\n/dev/c c 1 3 0666 0 0\n");
  const auto with_table = open_tree(place);
  const auto may_open = [&](const std::string& path) {
    const auto node = with_table.node(path);
    REQUIRE(node);
    return with_table.may_open(*node);
  };
  CHECK_FALSE(with_table.may_open({.path = "/dev/none", .mode = 0666}));
  CHECK(may_open("/dev/c"));
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  CHECK_FALSE(may_open("/dev/a"));
  CHECK_FALSE(may_open("/dev/b"));
  CHECK(may_open("/dev/c"));
}

TEST_CASE_FIXTURE(MergedUsr, "the root of this machine has no device table") {
  place.put("dev.tab", "/dev/made-up c 1 3 0666 0 0\n");
  REQUIRE(open_tree(place).node("/dev/made-up"));
  const auto child = ::fork();
  REQUIRE(child != -1);
  if (child == 0) {
    if (::chroot(place.path().c_str()) != 0) ::_exit(77);  // only root may
    const auto here = HostTree::open("/");
    ::_exit(here && here->exists("/dev.tab") && !here->node("/dev/made-up") ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) != 77) CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE_FIXTURE(MergedUsr, "a file in the place of a node is none") {
  const auto file = tree.node("/opt/b.so.3");
  REQUIRE_FALSE(file);
  CHECK(file.error().system == ENODEV);
  CHECK(file.error().message.find("not a device node") != std::string::npos);
  const auto missing = tree.node("/opt/none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().system == ENOENT);
}

TEST_CASE_FIXTURE(MergedUsr, "what is not a regular file is not read") {
  REQUIRE(::mkfifo((place / "pipe").c_str(), 0644) == 0);
  for (const auto* path : {"/pipe", "/opt"}) {
    CAPTURE(path);
    const auto text = tree.read(path);
    REQUIRE_FALSE(text);
    CHECK(text.error().system == EINVAL);
  }
  CHECK(tree.line("/pipe").empty());
}

TEST_CASE_FIXTURE(MergedUsr, "the name of a link is the last part of its target") {
  place.link("../../bus/driver", "opt/link");
  place.link("/", "opt/root");
  CHECK(tree.link_name("/opt/link") == "driver");
  CHECK_FALSE(tree.link_name("/opt/root"));
  CHECK_FALSE(tree.link_name("/opt/b.so.3"));
  CHECK_FALSE(tree.link_name("/opt/none"));
}

TEST_CASE("a damaged device table is an error") {
  const TempTree place;
  place.put("dev.tab", "/dev/a\n");
  const auto tree = HostTree::open(place.path());
  REQUIRE_FALSE(tree);
  CHECK(tree.error().message.find("not a row of a device table") != std::string::npos);
}

TEST_CASE("what this process may open is found out by opening it") {
  const auto root = HostTree::open("/");
  REQUIRE(root);
  const auto null = root->node("/dev/null");
  REQUIRE(null);
  CHECK(root->may_open(*null));
  CHECK_FALSE(root->may_open({.path = "/dev/none"}));
  CHECK(root->may_open({.path = "/dev/none", .host_path = "/dev/null"}));
  const auto closed = root->node("/dev/console");
  if (!closed || (closed->mode & 07) != 0) {
    MESSAGE("skipped 'no node here is closed to others'");
    return;
  }
  const UnprivilegedUser unprivileged;
  if (unprivileged && closed->gid != ::getegid()) CHECK_FALSE(root->may_open(*closed));
  CHECK(root->may_open(*null));
}

}  // namespace
