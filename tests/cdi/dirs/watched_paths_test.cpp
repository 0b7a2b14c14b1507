// Tests for include/cdi/dirs/watched_paths.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/watch.hpp>
#include <cdi/dirs/watched_paths.hpp>

#include "../../support/watch_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

}  // namespace

TEST_CASE("Events that the kernel dropped may have changed everything") {
  const cdi::detail::WatchedPaths paths{-1, {"/etc/cdi"}};
  inotify_event event{};
  event.wd = -1;
  const std::string_view bytes{reinterpret_cast<const char*>(&event), sizeof event};
  CHECK(paths.changes_in(bytes) == cdi::detail::WatchedEvent::none);
  event.mask = IN_Q_OVERFLOW;
  CHECK(paths.changes_in(bytes) == cdi::detail::WatchedEvent::paths);
}

TEST_CASE("The creation of a missing directory is reported, at each level") {
  const Tree tree;
  auto watcher = watch({tree / "a/b/c"});
  CHECK_FALSE(watcher.consume());
  tree.put("x.json");
  tree.make_dirs("other");
  CHECK_FALSE(watcher.consume());
  for (const char* name : {"a", "a/b", "a/b/c"}) {
    CAPTURE(name);
    tree.make_dirs(name);
    CHECK(reports_change(watcher));
    const bool complete = std::string_view{name} == "a/b/c";
    tree.put(std::string{name} + "/x.json");
    CHECK(reports_change(watcher) == complete);
  }

  SUBCASE("and again after all of it was removed") {
    tree.remove("a");
    CHECK(reports_change(watcher));
    tree.make_dirs("a/b/c");
    CHECK(reports_change(watcher));
    tree.put("a/b/c/x.json");
    CHECK(reports_change(watcher));
  }
  SUBCASE("and when it is moved there with its files") {
    tree.move("a", "gone");
    CHECK(reports_change(watcher));
    tree.put("gone/b/c/y.json");
    CHECK_FALSE(watcher.consume());
    tree.move("gone", "a");
    CHECK(reports_change(watcher));
    tree.put("a/b/c/y.json");
    CHECK(reports_change(watcher));
  }
}

TEST_CASE("A file in the place of a directory or of its parent may be replaced by a directory") {
  const Tree tree;
  tree.put("a");
  auto watcher = watch({tree / "a", tree / "a/b"});
  tree.put("a", "other");
  CHECK_FALSE(watcher.consume());
  tree.remove("a");
  CHECK(reports_change(watcher));
  tree.make_dirs("a/b");
  CHECK(reports_change(watcher));
  tree.put("a/b/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("The replacement of a directory is reported, and the new one is watched") {
  const Tree tree;
  tree.make_dirs("a");
  auto watcher = watch({tree / "a"});

  SUBCASE("removed and made again") {
    tree.remove("a");
    CHECK(reports_change(watcher));
    tree.make_dirs("a");
  }
  SUBCASE("removed and made again before the events are read") {
    tree.remove("a");
    tree.make_dirs("a");
  }
  SUBCASE("renamed away and made again") {
    tree.move("a", "old");
    CHECK(reports_change(watcher));
    tree.put("old/x.json");
    CHECK_FALSE(watcher.consume());
    tree.make_dirs("a");
  }
  SUBCASE("renamed away and back") {
    tree.move("a", "old");
    CHECK(reports_change(watcher));
    tree.move("old", "a");
  }
  SUBCASE("replaced by a rename") {
    tree.make_dirs("new");
    tree.move("new", "a");
  }
  SUBCASE("replaced by a link") {
    tree.make_dirs("new");
    tree.remove("a");
    tree.link("new", "a");
  }
  CHECK(reports_change(watcher));
  tree.put("a/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("A change of a link on the way to a directory is reported") {
  struct {
    std::string name;
    std::vector<std::pair<std::string, std::string>> links;  // target and name; {} is the tree
    std::string dir;
    std::pair<std::string, std::string> new_link;  // replaces a link of this name
  } const rows[] = {
      {"the directory is a link", {{"one/cdi", "link"}}, "link", {"two/cdi", "link"}},
      {"an absolute link", {{"{}/one/cdi", "link"}}, "link", {"{}/two/cdi", "link"}},
      {"a link in the middle", {{"one", "link"}}, "link/cdi", {"two", "link"}},
      {"a link to a link",
       {{"../one", "links/second"}, {"links/second/cdi", "link"}},
       "link",
       {"../two", "links/second"}},
      {"a link to itself", {{"link", "link"}}, "link", {"two/cdi", "link"}},
      {"a link to nothing yet", {{"three/cdi", "link"}}, "link", {"two", "three"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const Tree tree;
    for (const auto* name : {"one/cdi", "two/cdi", "links"}) tree.make_dirs(name);
    const auto link = [&](const std::pair<std::string, std::string>& target_and_name) {
      auto [target, name] = target_and_name;
      if (target.starts_with("{}")) target.replace(0, 2, tree.path());
      tree.link(target, "new-link");
      tree.move("new-link", name);
    };
    for (const auto& one : row.links) link(one);
    auto watcher = watch({tree / row.dir});
    CHECK_FALSE(watcher.consume());
    link(row.new_link);
    CHECK(reports_change(watcher));
    tree.put(row.dir + "/x.json");
    CHECK(reports_change(watcher));
  }
}

TEST_CASE("A change of the target of a link on the way to a directory is reported") {
  for (const bool exists : {false, true}) {
    CAPTURE(exists);
    const Tree tree;
    tree.make_dirs("two/cdi");
    if (exists) tree.make_dirs("one/cdi");
    tree.link(exists ? tree / "one/cdi" : "one/cdi", "link");
    auto watcher = watch({tree / "link"});
    CHECK_FALSE(watcher.consume());
    if (exists) tree.move("one", "old");
    tree.move("two", "one");
    CHECK(reports_change(watcher));
    tree.put("link/x.json");
    CHECK(reports_change(watcher));
  }
}

TEST_CASE("Many links and loops of links end") {
  const Tree tree;
  tree.link("many/many/many", "many");
  auto watcher = watch({tree / "many/many"});
  CHECK_FALSE(watcher.consume());
  tree.remove("many");
  CHECK(reports_change(watcher));
}

TEST_CASE("A directory is reported when it becomes readable") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const Tree tree;
  tree.make_dirs("outer/cdi");
  std::string closed;
  mode_t mode = 0;
  SUBCASE("itself") {
    closed = "outer/cdi";
  }
  SUBCASE("its parent") {
    closed = "outer";
  }
  SUBCASE("itself, but it may be searched") {
    closed = "outer/cdi";
    mode = 0111;
  }
  tree.mode(closed, mode);
  auto watcher = watch({tree / "outer/cdi"});
  CHECK_FALSE(watcher.consume());
  tree.mode(closed, 0755);
  CHECK(reports_change(watcher));
  tree.put("outer/cdi/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("A directory is watched in a parent that may only be searched") {
  const Return guard;
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const Tree tree;
  tree.make_dirs("outer/cdi");
  tree.mode("outer", 0311);
  fs::current_path(tree / "");
  auto watcher = watch({"outer/cdi"});
  tree.put("outer/cdi/x.json");
  CHECK(reports_change(watcher));

  // After its removal, its creation is not reported.
  tree.move("outer/cdi", "outer/old");
  CHECK(watcher.consume());
  REQUIRE(watcher.watch_error());
  CHECK(watcher.watch_error()->system == EACCES);
  CHECK(watcher.watch_error()->position.file == "./outer/cdi");
  CHECK(watcher.consume());
  CHECK(watcher.wait_until(Clock::now() + 1h));
  CHECK_FALSE(watcher.wait_until(Clock::now()));

  tree.move("outer/old", "outer/cdi");
  CHECK(watcher.consume());
  CHECK_FALSE(watcher.watch_error());
  CHECK_FALSE(watcher.consume());
  tree.put("outer/cdi/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("A directory whose creation cannot be watched is an error") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const Tree tree;
  tree.make_dirs("outer");
  tree.mode("outer", 0311);
  const auto watcher = cdi::Watcher::open({tree / "outer/missing"});
  REQUIRE_FALSE(watcher);
  CHECK(watcher.error().code == cdi::Errc::system);
  CHECK(to_string(watcher.error()) ==
        tree / "outer/missing" + ": cannot watch the directory: Permission denied");
}

TEST_CASE("The same directory may be given twice, by any path, and in another one") {
  const Tree tree;
  const auto a = tree.make_dirs("a");
  const auto sub = tree.make_dirs("a/sub");
  tree.link("a", "link");
  const std::vector<Names> rows = {{a, a},   {a, tree / "link"}, {a + "/", tree / "a/sub/.."},
                                   {sub, a}, {a, sub},           {tree / "a/sub", tree / "link/"}};
  for (const auto& dirs : rows) {
    CAPTURE(dirs.back());
    auto watcher = watch(dirs);
    for (const char* step : {"make", "write"}) {
      CAPTURE(step);
      tree.put("a/x.json");
      CHECK(reports_change(watcher));
    }
    tree.remove("a/x.json");
    CHECK(reports_change(watcher));
    tree.put("a/.x.json.tmp");
    CHECK_FALSE(watcher.consume());
  }
}

TEST_CASE("One of two paths to a directory may be removed") {
  const Tree tree;
  tree.make_dirs("a");
  tree.link("a", "link");
  auto watcher = watch({tree / "a", tree / "link"});
  tree.remove("link");
  CHECK(reports_change(watcher));
  tree.put("a/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("A directory that is not a spec directory any more is not watched") {
  const Tree tree;
  tree.make_dirs("a/sub");
  tree.make_dirs("other");
  tree.link("a", "link");
  auto watcher = watch({tree / "link", tree / "a/sub"});
  tree.remove("link");
  tree.link("other", "link");
  CHECK(reports_change(watcher));
  tree.put("a/x.json");
  CHECK_FALSE(watcher.consume());
  tree.put("other/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("Watches do not accumulate") {
  const Tree tree;
  tree.make_dirs("a/b");
  auto watcher = watch({tree / "a/b"});
  const auto before = watches_of(watcher);
  for (int i = 0; i < 10; ++i) {
    tree.move("a", "old" + std::to_string(i));
    CHECK(reports_change(watcher));
    CHECK(watches_of(watcher) == before - 2);
    tree.make_dirs("a/b");
    CHECK(reports_change(watcher));
    CHECK(watches_of(watcher) == before);
  }
}

TEST_CASE("Paths may be relative") {
  const Return guard;
  const Tree tree;
  fs::current_path(tree.make_dirs("inner"));
  for (const std::string dir : {"", ".", "./", "../inner", "../missing/../inner", "../../x/../"}) {
    CAPTURE(dir);
    auto watcher = watch({dir});
    tree.put("inner/x.json");
    CHECK(reports_change(watcher) == (dir != "../../x/../"));
  }
  auto watcher = watch({"a/b", "../c"});
  for (const char* name : {"inner/a", "inner/a/b", "inner/a/b/x.json", "c", "c/x.json"}) {
    CAPTURE(name);
    if (std::string_view{name}.ends_with(".json")) {
      tree.put(name);
    } else {
      tree.make_dirs(name);
    }
    CHECK(reports_change(watcher));
  }
}

TEST_CASE("The root, no directory, and an impossible path can be watched") {
  const Tree tree;
  auto root = watch({"/", "//", tree / "a"});
  tree.make_dirs("a");
  CHECK(root.consume());
  auto none = watch({});
  CHECK_FALSE(none.wait_until(Clock::now()));
  auto never = watch({tree / std::string_view{"a\0b", 3}});
  tree.put("a/x.json");
  CHECK_FALSE(never.consume());
}
