// Tests for include/cdi/dirs/cache.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/dirs/cache.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/cache_tree.hpp"

static_assert(!std::is_copy_constructible_v<cdi::Cache>);

TEST_CASE("The default directories are the CDI document's, and the later one has priority") {
  CHECK(cdi::default_spec_dirs() == Names{"/etc/cdi", "/var/run/cdi"});
}

TEST_CASE("A snapshot outlives the cache") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  std::shared_ptr<const cdi::Registry> registry;
  {
    cdi::Cache cache{{a}};
    registry = cache.registry();
    cache.refresh();
  }
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
}

TEST_CASE("A cache keeps no descriptor open and starts no thread, unless asked to") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return std::distance(tasks, std::filesystem::directory_iterator{});
  };
  const auto files_before = open_files();
  const auto threads_before = threads();
  cdi::Cache cache{{a}};
  CHECK(cache.registry()->devices().size() == 1);
  tree.put_spec("a/y.yaml", "e");
  CHECK(cache.registry()->devices().size() == 2);
  CHECK(open_files() == files_before);
  CHECK(threads() == threads_before);
}

TEST_CASE("The next call reflects any change in a directory") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    cdi::Cache cache{{a, tree / "b"}, fresh(name)};
    const auto devices = [&] {
      return cache.registry()->devices();
    };
    const auto move = [&](std::string_view old_name, std::string_view new_name) {
      REQUIRE(::rename((tree / old_name).c_str(), (tree / new_name).c_str()) == 0);
    };
    const auto remove = [&](std::string_view file) {
      REQUIRE(::unlink((tree / file).c_str()) == 0);
    };
    CHECK(devices().empty());
    tree.put_spec("a/1.yaml", "one");
    CHECK(devices() == Names{"v/c=one"});
    tree.put_spec("a/1.yaml", "uno");  // in place, and of the same size
    CHECK(devices() == Names{"v/c=uno"});
    tree.put_spec("a/2.tmp", "two");
    CHECK(devices() == Names{"v/c=uno"});
    move("a/2.tmp", "a/2.yaml");
    CHECK(devices() == Names{"v/c=two", "v/c=uno"});
    tree.put_spec("outside", "three");
    move("outside", "a/2.yaml");  // from elsewhere, over a file
    CHECK(devices() == Names{"v/c=three", "v/c=uno"});
    remove("a/1.yaml");
    CHECK(devices() == Names{"v/c=three"});
    REQUIRE(::link((tree / "a/2.yaml").c_str(), (tree / "a/3.yaml").c_str()) == 0);
    CHECK(devices().empty());  // a conflict
    remove("a/2.yaml");
    CHECK(devices() == Names{"v/c=three"});
    move("a/3.yaml", "target");
    tree.link("../target", "a/link.yaml");
    CHECK(devices() == Names{"v/c=three"});
    tree.put_spec("target", "drei");  // what the link leads to
    CHECK(devices() == Names{"v/c=drei"});
    tree.put_spec("target2", "vier");
    move("target2", "target");
    CHECK(devices() == Names{"v/c=vier"});

    tree.make_dir("b");  // the directory that was missing
    CHECK(devices() == Names{"v/c=vier"});
    tree.put_spec("b/4.yaml", "five");
    CHECK(devices() == Names{"v/c=five", "v/c=vier"});
    move("b", "away");
    CHECK(devices() == Names{"v/c=vier"});
    tree.put_spec("away/4.yaml", "not-here");
    CHECK(devices() == Names{"v/c=vier"});
    tree.make_dir("b");
    tree.put_spec("b/4.yaml", "six");
    CHECK(devices() == Names{"v/c=six", "v/c=vier"});
    move("b/4.yaml", "4.yaml");
    REQUIRE(::rmdir((tree / "b").c_str()) == 0);
    tree.link("away", "b");
    CHECK(devices() == Names{"v/c=not-here", "v/c=vier"});
    remove("b");
    tree.make_dir("other");
    tree.put_spec("other/5.yaml", "seven");
    tree.link("other", "b");
    CHECK(devices() == Names{"v/c=seven", "v/c=vier"});
    tree.put_spec("other/5.yaml", "acht!");
    CHECK(cache.registry()->errors().size() == 1);
  }
}

TEST_CASE("Quick successive changes are all found, even with equal size and times") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    cdi::Cache cache{{a}, fresh(name)};
    for (int i = 100; i < 400; ++i) {
      const auto device = "d" + std::to_string(i);
      tree.put_spec("a/x.yaml", device);
      REQUIRE(cache.registry()->devices() == Names{"v/c=" + device});
    }
  }
}

TEST_CASE("A change is found even if the time of modification is set back") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "one");
  struct stat info = {};
  REQUIRE(::stat((tree / "a/x.yaml").c_str(), &info) == 0);
  cdi::Cache cache{{a}};
  Opened opened{a};
  settle(cache, opened);
  tree.put_spec("a/x.yaml", "two");
  const timespec times[] = {info.st_atim, info.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, (tree / "a/x.yaml").c_str(), times, 0) == 0);
  CHECK(cache.registry()->devices() == Names{"v/c=two"});
}

TEST_CASE("Nothing is opened while nothing changes, and the registry stays the same") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    for (int i = 0; i < 20; ++i) {
      tree.put_spec("a/" + std::to_string(i) + ".yaml", "d" + std::to_string(i));
    }
    tree.put("a/bad.json", "{");
    cdi::Cache cache{{a, tree / "missing"}, fresh(name)};
    Opened opened{a};
    settle(cache, opened);
    const auto registry = cache.registry();
    CHECK(registry->devices().size() == 20);
    CHECK(registry->errors().size() == 1);
    opened.take();
    for (int i = 0; i < 3; ++i) {
      CHECK(cache.registry() == registry);
      CHECK(cache.refresh() == registry);
    }
    CHECK(opened.take().empty());
  }
}

TEST_CASE("The targets of links are checked although their directory is watched") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("target", "one");
  tree.link("../target", "a/link.yaml");
  cdi::Cache cache{{a}, {.freshness = cdi::Freshness::watched}};
  Opened opened{a};
  Opened target{tree / "target"};
  REQUIRE(eventually([&] {
    target.take();
    cache.registry();
    return target.take().empty() && opened.take().empty();
  }));
  tree.put_spec("target", "two");
  CHECK(cache.registry()->devices() == Names{"v/c=two"});
}

TEST_CASE("A path that leads to another directory is watched there") {
  const TempTree here;
  const TempTree there;
  here.make_dir("a");
  there.make_dir("a");
  here.put_spec("a/x.yaml", "one");
  there.put_spec("a/x.yaml", "two");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  cdi::Cache cache{{"a"}, {.freshness = cdi::Freshness::watched}};
  Opened opened{there / "a"};
  CHECK(cache.registry()->devices() == Names{"v/c=one"});
  std::filesystem::current_path(there.path());  // inotify does not report that
  CHECK(cache.refresh()->devices() == Names{"v/c=two"});
  settle(cache, opened);
  there.put_spec("a/x.yaml", "six");
  CHECK(cache.registry()->devices() == Names{"v/c=six"});
  std::filesystem::current_path(before);
}

TEST_CASE("With manual freshness, directories are read once, and again at a refresh only") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  cdi::Cache cache{{a, tree / "b"}, {.freshness = cdi::Freshness::manual}};
  tree.put_spec("a/kept.yaml", "kept");
  tree.put_spec("a/changed.yaml", "before");
  tree.put_spec("a/removed.yaml", "removed");
  const auto old = cache.registry();
  const Names before{"v/c=before", "v/c=kept", "v/c=removed"};
  CHECK(old->devices() == before);

  tree.put_spec("a/changed.yaml", "after");
  REQUIRE(::unlink((tree / "a/removed.yaml").c_str()) == 0);
  tree.make_dir("b");
  tree.put_spec("b/added.yaml", "added");
  CHECK(cache.registry() == old);
  CHECK(cache.snapshot() == old);
  CHECK(cache.registry()->dirs()[1].state == cdi::SpecDir::State::missing);

  const auto now = cache.refresh();
  CHECK(now->devices() == Names{"v/c=added", "v/c=after", "v/c=kept"});
  CHECK(cache.registry() == now);
  CHECK(cache.snapshot() == now);
  CHECK(now->dirs()[1].state == cdi::SpecDir::State::read);

  // The old snapshot is as it was, and usable.
  CHECK(old->devices() == before);
  cdi::oci::Spec oci;
  CHECK(old->inject(oci, {"v/c=removed"}));
  CHECK(oci.process->env == Names{"FROM=a/removed.yaml"});
}

TEST_CASE("A snapshot is the result of the last check") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  const auto first = cache.snapshot();  // there was none yet
  CHECK(from(*first, "v/c=d") == "a/x.yaml");
  tree.put_spec("a/y.yaml", "e");
  CHECK(cache.snapshot() == first);
  CHECK(cache.registry() != first);
  CHECK(cache.snapshot()->devices().size() == 2);
}

TEST_CASE_TEMPLATE("Devices are injected through the cache, all or none", Target, nlohmann::json,
                   nlohmann::ordered_json) {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  auto target = Target::parse(R"({"x":1})");
  CHECK_FALSE(cache.inject(target, {"v/c=d", "v/c=e"}));
  CHECK(target == Target::parse(R"({"x":1})"));
  CHECK(cache.inject(target, Names{"v/c=d"}));
  CHECK(cache.inject(target, {"v/c=d"}));
  CHECK(target["process"]["env"] == Target::parse(R"(["FROM=a/x.yaml"])"));
}

TEST_CASE("No descriptor stays open") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.json", "{");
  tree.make_dir("a/sub.json");
  tree.link("sub.json", "a/link.json");
  tree.put("file", "");
  const auto before = open_files();
  const std::pair<cdi::Freshness, std::size_t> rows[] = {
      {cdi::Freshness::checked, 0}, {cdi::Freshness::manual, 0}, {cdi::Freshness::watched, 1}};
  for (const auto& row : rows) {
    const auto freshness = row.first;
    const auto kept = row.second;
    CAPTURE(kept);
    {
      cdi::Cache cache{{a, tree / "file", tree / "gone"}, {.freshness = freshness}};
      for (int i = 0; i < 3; ++i) cache.refresh();
      CHECK(open_files() == before + kept);
      CHECK((cache.descriptor() >= 0) == (freshness == cdi::Freshness::watched));
      CHECK_FALSE(cache.wait_for({"v/c=none"}, steady_clock::now()));
    }
    CHECK(open_files() == before);
  }
}

TEST_CASE("A watching cache wakes the caller's own poll") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  cdi::Cache cache{{a}, {.freshness = cdi::Freshness::watched}};
  CHECK_FALSE(cache.watch_error());
  CHECK(cache.registry()->devices().empty());
  pollfd one{.fd = cache.descriptor(), .events = POLLIN, .revents = 0};
  tree.put_spec("a/x.yaml", "d");
  CHECK(::poll(&one, 1, 60'000) == 1);
  CHECK(cache.registry()->devices().size() == 1);
}

TEST_CASE("Without inotify, signatures are compared, and the reason is available") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto make = [&] {
    const NoMoreFiles none;
    return std::make_unique<cdi::Cache>(Names{a}, fresh("watched"));
  };
  const auto cache = make();
  REQUIRE(cache->watch_error());
  CHECK(cache->watch_error()->system == EMFILE);
  CHECK(cache->descriptor() == -1);
  tree.put_spec("a/x.yaml", "d");
  CHECK(cache->registry()->devices() == Names{"v/c=d"});
  tree.put_spec("a/x.yaml", "e");
  CHECK(cache->registry()->devices() == Names{"v/c=e"});
}

TEST_CASE("A change that inotify does not report is found within a second") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("a/x.yaml", "d");
  REQUIRE(::link((tree / "a/x.yaml").c_str(), (tree / "b/x.yaml").c_str()) == 0);
  cdi::Cache cache{{a}, {.freshness = cdi::Freshness::watched}};
  CHECK(cache.registry()->devices() == Names{"v/c=d"});
  Opened opened{a};
  settle(cache, opened);
  tree.put_spec("b/x.yaml", "e");  // the same file
  CHECK(eventually([&] { return cache.registry()->devices() == Names{"v/c=e"}; }));
}

TEST_CASE("With concurrent readers, refreshes and writers, every snapshot is consistent") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    const auto write = [&](const std::string& file, int round) {
      // Both devices of a file are of the same round.
      const auto number = std::to_string(round);
      tree.put("tmp-" + file, "cdiVersion: 1.0.0\nkind: " + file +
                                  "/c\ndevices:\n- name: a\n"
                                  "  containerEdits: {env: [R=" +
                                  number +
                                  "]}\n- name: b\n"
                                  "  containerEdits: {env: [R=" +
                                  number + "]}\n");
      REQUIRE(::rename((tree / ("tmp-" + file)).c_str(),
                       (tree / ("a/" + file + ".yaml")).c_str()) == 0);
    };
    write("x", 0);
    write("y", 0);
    cdi::Cache cache{{a}, fresh(name)};
    std::atomic<int> writing{2};
    std::atomic<int> reads{0};
    std::atomic<int> wrong{0};
    const auto round_of = [](const cdi::Registry& registry, const std::string& device) {
      const auto found = registry.find(device);
      return found.device == nullptr ? -1
                                     : std::stoi(found.device->container_edits.env.at(0).substr(2));
    };
    std::vector<std::thread> threads;
    for (const std::string file : {"x", "y"}) {
      threads.emplace_back([&, file] {
        for (int round = 1; round <= 50; ++round) {
          write(file, round);
          // Up to date at the call: only this thread writes the file.
          if (round_of(*cache.registry(), file + "/c=a") != round) ++wrong;
        }
        --writing;
      });
      threads.emplace_back([&, file] {
        do {
          const auto registry = reads % 2 == 0 ? cache.snapshot() : cache.refresh();
          const int round = round_of(*registry, file + "/c=a");
          nlohmann::json oci = nlohmann::json::object();
          const bool good = round >= 0 && round == round_of(*registry, file + "/c=b") &&
                            registry->inject(oci, {file + "/c=b"}) && registry->specs().size() == 2;
          if (!good) ++wrong;
          ++reads;
        } while (writing > 0);
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(reads > 0);
    CHECK(round_of(*cache.registry(), "x/c=a") == 50);
  }
}
