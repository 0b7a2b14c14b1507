// What a program saw of a host's files, and whether it would see the same again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/trail.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include "../../../../tools/kit/host/host_tree.hpp"
#include "../../../support/made_up_host.hpp"

namespace {

using tools::HostTree;
using tools::Trail;
using Look = std::function<void(const HostTree&)>;

/// The trail of a look at a tree.
std::shared_ptr<Trail> trail_of(const std::string& root, const Look& look) {
  auto trail = std::make_shared<Trail>();
  const auto tree = HostTree::open(root, trail);
  REQUIRE(tree);
  look(*tree);
  trail->end();
  return trail;
}

/// The same, once the files are old enough, which takes the time of a few clock ticks.
std::shared_ptr<Trail> certain_trail(const std::string& root, const Look& look) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  for (;;) {
    auto trail = trail_of(root, look);
    if (trail->is_certain() || std::chrono::steady_clock::now() > end) return trail;
  }
}

/// A host of files, and a look at one of them in each way.
struct SeenFiles : MadeUpHost {
  SeenFiles() {
    put("etc/text", "one\n");
    put("lib/a.so.1", "");
    link("a.so.1", "lib/a.so");
    make("empty");
    put("dev.tab", "/dev/card0 c 226 0 0660 0 0\n");
  }

  std::shared_ptr<Trail> trail() const {
    return certain_trail(path(), [](const HostTree& tree) {
      CHECK(tree.line("/etc/text") == "one");
      CHECK(tree.files("/lib", [](const auto&) { return true; }).size() == 2);
      CHECK(tree.list("/empty").empty());
      CHECK_FALSE(tree.exists("/gone/file"));
      CHECK_FALSE(tree.exists("/gone/other"));
      CHECK_FALSE(tree.exists("/etc/none"));
      CHECK(tree.link_name("/lib/a.so") == "a.so.1");
      CHECK(tree.real_path("/lib/a.so") == "/lib/a.so.1");
      CHECK(tree.node("/dev/card0"));
    });
  }
};

}  // namespace

TEST_CASE("A host that does not change is the same") {
  const SeenFiles host;
  const auto trail = host.trail();
  REQUIRE(trail->is_certain());
  CHECK(trail->is_same());
  CHECK(trail->is_same());
  CHECK_FALSE(trail->needs_events());
  host.put("etc/unseen", "");
  CHECK(trail->is_same());
}

TEST_CASE("Each change of what was seen is noticed") {
  const SeenFiles host;
  const auto trail = host.trail();
  REQUIRE(trail->is_same());
  SUBCASE("text of the same size") {
    host.put("etc/text", "two\n");
  }
  SUBCASE("another file with the name") {
    host.put("etc/new", "one\n");
    std::filesystem::rename(host / "etc/new", host / "etc/text");
  }
  SUBCASE("a file that is gone") {
    host.remove("etc/text");
  }
  SUBCASE("another file in a directory") {
    host.put("lib/b.so", "");
  }
  SUBCASE("the first file in a directory") {
    host.put("empty/a", "");
  }
  SUBCASE("a file that was missing") {
    host.put("etc/none", "");
  }
  SUBCASE("a file that was missing with its directory") {
    host.put("gone/other", "");
  }
  SUBCASE("another target of a link") {
    host.put("lib2/a.so.1", "");
    host.remove("lib/a.so");
    host.link("../lib2/a.so.1", "lib/a.so");
  }
  SUBCASE("other permissions") {
    REQUIRE(::chmod((host / "lib/a.so.1").c_str(), 0600) == 0);
  }
  SUBCASE("the device table") {
    host.put("dev.tab", "/dev/card0 c 226 1 0660 0 0\n");
  }
  SUBCASE("another directory as the root") {
    const auto away = host.path() + ".away";
    std::filesystem::rename(host.path(), away);
    std::filesystem::copy(
        away, host.path(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    std::filesystem::remove_all(away);
  }
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A link that leads nowhere hides a file that is made elsewhere") {
  const MadeUpHost host;
  host.make("etc");
  host.link("../later/a", "etc/a");
  host.link("../later/a", "etc/b");
  const auto trail = certain_trail(host.path(), [](const HostTree& tree) {
    CHECK(tree.status("/etc/a").st_mode == 0);
    CHECK(tree.status("/etc/b").st_mode == 0);
  });
  REQUIRE(trail->is_same());
  host.put("later/a", "");
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A link out of the root leads to the file in the root") {
  const MadeUpHost host;
  host.put("etc/hostname", "made up");
  host.link("/etc/hostname", "name");
  const auto trail = certain_trail(
      host.path(), [](const HostTree& tree) { CHECK(tree.line("/name") == "made up"); });
  REQUIRE(trail->is_same());
  host.put("etc/hostname", "another");
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A file that is missing in the root, by a link out of it, may be made there") {
  const MadeUpHost host;
  host.make("opt");
  host.link("/no-such-directory-here", "opt/driver");
  const Look look = [](const HostTree& tree) {
    CHECK_FALSE(tree.exists("/opt/driver/lib"));
  };
  const auto trail = certain_trail(host.path(), look);
  REQUIRE(trail->is_same());
  host.put("no-such-directory-here/lib", "");
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A file that was changed just now, or on the way, makes the trail uncertain") {
  const MadeUpHost host;
  const Look look = [](const HostTree& tree) {
    static_cast<void>(tree.read("/text"));
  };
  host.put("text", "one");
  CHECK_FALSE(trail_of(host.path(), look)->is_certain());
  const auto trail = trail_of(host.path(), [&](const HostTree& tree) {
    look(tree);
    host.remove("text");
    look(tree);
  });
  CHECK_FALSE(trail->is_certain());
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("What is looked at after the end does not count") {
  const MadeUpHost host;
  const auto trail = std::make_shared<Trail>();
  const auto tree = HostTree::open(host.path(), trail);
  REQUIRE(tree);
  trail->end();
  const auto size = trail->size();
  CHECK_FALSE(tree->exists("/more"));
  CHECK(trail->size() == size);
}

TEST_CASE("What the kernel makes up is read again") {
  const auto read = [](const char* path) {
    return trail_of("/", [path](const HostTree& tree) { REQUIRE(tree.read(path)); });
  };
  CHECK(read("/proc/sys/kernel/random/boot_id")->is_same());
  CHECK_FALSE(read("/proc/sys/kernel/random/uuid")->is_same());  // another one each time
  CHECK(trail_of("/", [](const HostTree& tree) {
          CHECK(!tree.list("/proc/sys").empty());
        })->is_same());
}

TEST_CASE("Names in /sys need messages of the kernel") {
  struct statfs about = {};
  const bool is_there = ::statfs("/sys/class", &about) == 0 && about.f_type == 0x62656572;
  if (!is_there) {
    MESSAGE("skipped: there is no /sys");
    return;
  }
  const auto trail =
      trail_of("/", [](const HostTree& tree) { CHECK(!tree.list("/sys/class").empty()); });
  CHECK(trail->is_same());
  CHECK(trail->needs_events());
}

TEST_CASE("A directory that is not there, or a device that was opened, cannot be checked") {
  Trail trail;
  trail.add_root("/none/at all", "");
  CHECK_FALSE(trail.is_certain());
  CHECK_FALSE(trail.is_same());
  const SeenFiles host;
  CHECK_FALSE(trail_of(host.path(), [](const HostTree& tree) {
                static_cast<void>(tree.may_open(*tree.node("/dev/card0")));
              })->is_certain());
}

TEST_CASE("A directory that cannot be listed makes the trail uncertain, unless it is missing") {
  const MadeUpHost host;
  host.put("file", "");
  const auto missing =
      certain_trail(host.path(), [](const HostTree& tree) { CHECK(tree.list("/none").empty()); });
  CHECK(missing->is_same());
  host.put("none/a", "");
  CHECK_FALSE(missing->is_same());
  CHECK_FALSE(trail_of(host.path(), [](const HostTree& tree) {
                CHECK(tree.list("/file").empty());
              })->is_certain());
}

TEST_CASE("A root that is gone is not the same") {
  auto host = std::make_unique<MadeUpHost>();
  const auto trail =
      certain_trail(host->path(), [](const HostTree& tree) { CHECK(tree.exists("/run/cdi")); });
  REQUIRE(trail->is_same());
  host.reset();
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A file that is asked for in several ways is checked in the strictest") {
  const MadeUpHost host;
  host.put("text", "one\n");
  const Look look = [](const HostTree& tree) {
    CHECK(tree.exists("/text"));
    CHECK(tree.line("/text") == "one");
    CHECK(S_ISREG(tree.status("/text").st_mode));
  };
  const auto trail = certain_trail(host.path(), look);
  REQUIRE(trail->is_same());
  host.put("text", "two\n");
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("A file of /proc that goes away, or cannot be read, is noticed") {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto place = "/proc/" + std::to_string(child);
  const auto trail = trail_of("/", [&](const HostTree& tree) {
    CHECK(tree.read(place + "/comm"));
    CHECK_FALSE(tree.list(place + "/task").empty());
  });
  CHECK(trail->is_same());
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(trail->is_same());
}

TEST_CASE("What is listed and read after the end does not count") {
  const SeenFiles host;
  const auto trail = std::make_shared<Trail>();
  const auto tree = HostTree::open(host.path(), trail);
  REQUIRE(tree);
  trail->end();
  const auto size = trail->size();
  CHECK(tree->list("/lib").size() == 2);
  CHECK(tree->list("/none").empty());
  CHECK(tree->line("/etc/text") == "one");
  CHECK(trail->size() == size);
}
