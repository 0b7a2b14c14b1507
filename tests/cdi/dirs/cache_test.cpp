// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../temp_tree.hpp"

namespace {

using Names = std::vector<std::string>;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The file whose `FROM` a device sets; empty when it cannot be resolved.
std::string from(const cdi::Registry& registry, std::string_view name) {
  const auto found = registry.find(name);
  return found.device == nullptr ? "" : found.device->container_edits.env.at(0).substr(5);
}

/// A deadline that is never reached unless something is wrong.
steady_clock::time_point far() {
  return steady_clock::now() + 60s;
}

/// Goes on until a condition holds; false when it does not for a minute.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = far();
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Sees which files of a directory are opened, by the eyes of the kernel.
class Opened {
 public:
  explicit Opened(const std::string& dir) : inotify_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {
    REQUIRE(::inotify_add_watch(inotify_.get(), dir.c_str(), IN_OPEN) >= 0);
  }
  /// The names opened since the last call; "" for the directory itself.
  Names take() {
    Names names;
    alignas(inotify_event) char block[65536];
    for (;;) {
      const auto got = ::read(inotify_.get(), block, sizeof block);
      if (got <= 0) return names;
      for (ssize_t at = 0; at < got;) {
        inotify_event event;
        std::memcpy(&event, block + at, sizeof event);
        names.emplace_back(event.len == 0 ? "" : block + at + sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
  }

 private:
  cdi::Descriptor inotify_;
};

/// Asks until nothing is read any more: files just changed are read again for a moment.
void settle(cdi::Cache& cache, Opened& opened) {
  REQUIRE(eventually([&] {
    opened.take();
    cache.registry();
    return opened.take().empty();
  }));
}

/// Lowers the limit of open files so that none can be opened any more.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

const char* const every_freshness[] = {"checked", "watched", "kept_up"};
cdi::CacheOptions fresh(std::string_view name) {
  const auto freshness = name == "checked"   ? cdi::Freshness::checked
                         : name == "watched" ? cdi::Freshness::watched
                                             : cdi::Freshness::kept_up;
  return {.freshness = freshness};
}

}  // namespace

static_assert(!std::is_copy_constructible_v<cdi::Cache>);

TEST_CASE("The default directories are those of the CDI document, the later with priority") {
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

TEST_CASE("Whatever changes in a directory, the next call has it") {
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

TEST_CASE("Many changes in a moment are all seen, though size and times may be the same") {
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

TEST_CASE("A time that was set back hides no change") {
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
    for (int i = 0; i < 3; ++i) {
      CHECK(cache.registry() == registry);
      CHECK(cache.refresh() == registry);
    }
    CHECK(opened.take().empty());
  }
}

TEST_CASE("Of watched files, those that links lead to are looked at all the same") {
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

TEST_CASE("A watched path that leads elsewhere is watched there, whoever sees it first") {
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
  std::filesystem::current_path(there.path());  // inotify tells nothing of that
  CHECK(cache.refresh()->devices() == Names{"v/c=two"});
  settle(cache, opened);
  there.put_spec("a/x.yaml", "six");
  CHECK(cache.registry()->devices() == Names{"v/c=six"});
  std::filesystem::current_path(before);
}

TEST_CASE("One file among 1000 changed: one file is read, the others are shared") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (int i = 0; i < 1000; ++i) {
    tree.put_spec("a/" + std::to_string(1000 + i) + ".yaml", "d" + std::to_string(i));
  }
  cdi::Cache cache{{a}};
  Opened opened{a};
  settle(cache, opened);
  const auto before = cache.registry();
  const auto check_one_read = [&](const Names& expected) {
    const auto after = cache.registry();
    CHECK(opened.take() == expected);
    REQUIRE(after->specs().size() == 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
      CHECK((after->specs()[i] == before->specs()[i]) == (i != 500));
    }
  };
  tree.put_spec("new", "changed");
  opened.take();
  REQUIRE(::rename((tree / "new").c_str(), (tree / "a/1500.yaml").c_str()) == 0);
  check_one_read({"", "1500.yaml"});  // the directory, to list it; and the file
  CHECK(cache.registry()->find("v/c=changed").device != nullptr);
  settle(cache, opened);
  tree.put_spec("a/1500.yaml", "in-place");
  opened.take();
  check_one_read({"", "1500.yaml"});
  CHECK(cache.registry()->find("v/c=in-place").device != nullptr);
}

TEST_CASE("A file that is touched, or written anew with the same bytes, changes nothing") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.yaml", "[");
  cdi::Cache cache{{a}, {.read = {.patience = {}}}};
  const auto registry = cache.registry();
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.yaml", "[");
  CHECK(cache.registry() == registry);
  REQUIRE(::utimensat(AT_FDCWD, (tree / "a/x.yaml").c_str(), nullptr, 0) == 0);
  CHECK(cache.registry() == registry);
  tree.put("a/bad.yaml", "\n[");
  CHECK(cache.registry() != registry);  // the error is in another line now
}

TEST_CASE("By hand, directories are read when first asked, and not again before a refresh") {
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

TEST_CASE("A snapshot is what was found last, without a look") {
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

TEST_CASE("What a file held before stays in use when it turns bad, with the error") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.patience = {}}}};
  const auto good = cache.registry();
  CHECK(good->find("v/c=d").spec->fault == nullptr);

  tree.put("a/x.yaml", "cdiVersion: 1.0.0\nkind: v/c\nodd: 1\n");
  const auto kept = cache.registry();
  CHECK(from(*kept, "v/c=d") == "a/x.yaml");
  REQUIRE(kept->errors().size() == 1);
  CHECK(to_string(kept->errors()[0]) ==
        a + "/x.yaml:3:1: odd: unknown field; known here: cdiVersion, kind, annotations, devices, "
            "containerEdits; what it held before stays in use");
  CHECK(kept->find("v/c=d").spec->fault != nullptr);
  CHECK(kept->dirs()[0].specs == 1);
  CHECK(cache.registry() == kept);
  // A device that it did not hold before may be in what it holds now.
  CHECK(kept->unresolved({"v/c=e"}).at(0).reason == cdi::Reason::rejected);

  tree.put("a/x.yaml", "[");  // bad in another way
  const auto worse = cache.registry();
  CHECK(from(*worse, "v/c=d") == "a/x.yaml");
  CHECK(worse->errors().at(0).position.line == 1);

  tree.put_spec("a/x.yaml", "d");  // mended
  CHECK(cache.registry()->errors().empty());
  CHECK(cache.registry()->find("v/c=d").spec->fault == nullptr);
  tree.put("a/x.yaml", "[");
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::unlink((tree / "a/x.yaml").c_str()) == 0);  // gone is gone
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->errors().empty());
  tree.put("a/x.yaml", "[");
  CHECK(cache.registry()->devices().empty());

  cdi::Cache strict{{a}, {.read = {.patience = {}, .keep_last_good = false}}};
  tree.put_spec("a/x.yaml", "d");
  CHECK(strict.registry()->devices().size() == 1);
  tree.put("a/x.yaml", "[");
  CHECK(strict.registry()->devices().empty());
  CHECK(strict.registry()->errors().size() == 1);
}

TEST_CASE("A fault is mended by a file of another name, as a scan from the start sees it") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.patience = {}}}};
  CHECK(cache.registry()->devices().size() == 1);
  tree.put("a/x.yaml", "[");
  CHECK(from(*cache.registry(), "v/c=d") == "a/x.yaml");
  for (const std::string_view name : {"a/w.yaml", "a/y.yaml"}) {  // before and after it
    CAPTURE(name);
    tree.put_spec(name, "d");
    CHECK(from(*cache.registry(), "v/c=d") == name);
    CHECK(from(*cdi::scan_spec_dirs({a}), "v/c=d") == name);
    CHECK(cache.registry()->errors().size() == 1);  // of the bad file
    REQUIRE(::unlink((tree / name).c_str()) == 0);
  }
  CHECK(from(*cache.registry(), "v/c=d") == "a/x.yaml");
}

TEST_CASE("A file that others may write now is not kept") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.refuse_writable = true}}};
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0666) == 0);
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->unresolved({"v/c=d"}).at(0).reason == cdi::Reason::refused);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0644) == 0);
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::chmod(a.c_str(), 0777) == 0);
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->unresolved({"v/c=d"}).at(0).reason == cdi::Reason::refused);
}

TEST_CASE("Lack of descriptors hides nothing that was read before") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    tree.put_spec("a/x.yaml", "d");
    cdi::Cache cache{{a}, fresh(name)};
    CHECK(cache.registry()->devices().size() == 1);
    tree.make_dir("b");
    tree.put_spec("b/y.yaml", "e");
    {
      const NoMoreFiles none;
      // Moved only now: the thread of `kept_up` must not have read half of it before.
      REQUIRE(std::rename((tree / "b/y.yaml").c_str(), (tree / "a/y.yaml").c_str()) == 0);
      const auto registry = cache.registry();
      CHECK(from(*registry, "v/c=d") == "a/x.yaml");
      REQUIRE(registry->errors().size() == 1);
      CHECK(registry->errors()[0].system == EMFILE);
      CHECK(registry->dirs()[0].state == cdi::SpecDir::State::unreadable);
      CHECK(registry->dirs()[0].specs == 1);
      // The registry is not made anew each time, but by the thread of `kept_up` once more, when it
      // is told of the file.
      bool kept = false;
      for (int i = 0; i < 100 && !kept; ++i) kept = cache.registry() == cache.registry();
      CHECK(kept);
      CHECK(cache.registry()->unresolved({"w/c=d"}).at(0).reason == cdi::Reason::unreadable);
    }
    CHECK(cache.registry()->devices().size() == 2);
    CHECK(cache.registry()->errors().empty());
  }
}

TEST_CASE("A directory or file that may not be read any more hides nothing that was read before") {
  const Nobody nobody;
  if (!nobody) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put_spec("a/y.yaml", "e");
  cdi::Cache cache{{a}};
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0) == 0);
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(cache.registry()->errors().size() == 1);
  const auto& message = cache.registry()->errors()[0].message;
  CHECK(message.find("Permission denied: mode 0000, owner " + std::to_string(::geteuid())) !=
        std::string::npos);
  CHECK(message.find("; this process is user " + std::to_string(::geteuid())) != std::string::npos);
  REQUIRE(::chmod(a.c_str(), 0) == 0);
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(::chmod(a.c_str(), 0755) == 0);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0644) == 0);
  CHECK(cache.registry()->errors().empty());
}

TEST_CASE("A file that is written in pieces is waited for before it counts as bad") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const std::string_view text =
      R"({"cdiVersion":"1.0.0","kind":"v/c","devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})";
  tree.put("a/x.json", text);
  cdi::Cache cache{{a}, {.read = {.patience = 60s, .keep_last_good = false}}};
  std::atomic<bool> done = false;
  std::thread writer{[&] {
    for (int i = 0; i < 100; ++i) {
      std::FILE* const file = std::fopen((tree / "a/x.json").c_str(), "wb");
      for (const char c : text) {
        std::fputc(c, file);
        if (c == ',') std::fflush(file);
      }
      std::fclose(file);
    }
    done = true;
  }};
  std::size_t missed = 0;
  do {
    if (cache.registry()->find("v/c=d").device == nullptr) ++missed;
  } while (!done);
  writer.join();
  CHECK(missed == 0);
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
  const std::pair<cdi::Freshness, std::size_t> rows[] = {{cdi::Freshness::checked, 0},
                                                         {cdi::Freshness::manual, 0},
                                                         {cdi::Freshness::watched, 1},
                                                         {cdi::Freshness::kept_up, 2}};
  for (const auto& row : rows) {
    const auto freshness = row.first;
    const auto kept = row.second;
    CAPTURE(kept);
    {
      cdi::Cache cache{{a, tree / "file", tree / "gone"}, {.freshness = freshness}};
      for (int i = 0; i < 3; ++i) cache.refresh();
      if (freshness != cdi::Freshness::kept_up) CHECK(open_files() == before + kept);
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

TEST_CASE("Where inotify cannot be had, signatures are compared, and it is said why") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (const auto freshness : {cdi::Freshness::watched, cdi::Freshness::kept_up}) {
    const auto make = [&] {
      const NoMoreFiles none;
      return std::make_unique<cdi::Cache>(Names{a}, cdi::CacheOptions{.freshness = freshness});
    };
    const auto cache = make();
    REQUIRE(cache->watch_error());
    CHECK(cache->watch_error()->system == EMFILE);
    CHECK(cache->descriptor() == -1);
    tree.put_spec("a/x.yaml", "d");
    CHECK(cache->registry()->devices() == Names{"v/c=d"});
    tree.put_spec("a/x.yaml", "e");
    CHECK(cache->registry()->devices() == Names{"v/c=e"});
    if (freshness == cdi::Freshness::kept_up) {  // without a thread it looks itself
      tree.put_spec("a/x.yaml", "f");
      CHECK(cache->snapshot()->devices() == Names{"v/c=f"});
    }
  }
}

TEST_CASE("A cache that keeps up has changes in its snapshot without being asked") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  cdi::Cache cache{{a}, {.freshness = cdi::Freshness::kept_up}};
  const auto has = [&](std::string_view name) {
    return eventually([&] { return cache.snapshot()->find(name).device != nullptr; });
  };
  tree.put_spec("a/x.yaml", "d");
  CHECK(has("v/c=d"));
  tree.put_spec("a/y.yaml", "e");
  CHECK(has("v/c=e"));
}

TEST_CASE("Names are waited for until their specs are there, whole") {
  const TempTree tree;
  cdi::Cache cache{{tree / "late/cdi"}};
  std::thread writer{[&] {
    tree.make_dir("late");
    tree.make_dir("late/cdi");
    tree.put_spec("late/cdi/other.yaml", "other");
    tree.put("late/cdi/x.json", R"({"cdiVersion":"1.0.0","kind":"w/c","dev)");
    tree.put("late/cdi/x.json", R"({"cdiVersion":"1.0.0","kind":"w/c","devices":[)"
                                R"({"name":"d","containerEdits":{"env":["A=1"]}}]})");
  }};
  const auto registry = cache.wait_for({"w/c=d", "v/c=other"}, far());
  writer.join();
  REQUIRE_MESSAGE(registry, (registry ? "" : to_string(registry.error())));
  CHECK((*registry)->find("w/c=d").device != nullptr);
  CHECK(cache.snapshot() == *registry);
}

TEST_CASE("Waiting ends at once when it can bring nothing") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  const auto unknown = cache.wait_for({"v/c=d", "v/c=e"}, far(), {.quiet = 0ms});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == cdi::Errc::not_found);
  CHECK(unknown.error().message.find("kind \"v/c\" has no device \"e\"") != std::string::npos);
  const auto invalid = cache.wait_for({"d"}, far(), {.fail_on_unknown_device = false});
  REQUIRE_FALSE(invalid);
  CHECK(invalid.error().code == cdi::Errc::invalid_name);

  // Where devices come one after the other, it goes on.
  std::thread writer{[&] {
    tree.put_spec("a/y.yaml", "e");
  }};
  CHECK(cache.wait_for({"v/c=d", "v/c=e"}, far(), {.fail_on_unknown_device = false}));
  writer.join();
}

TEST_CASE(
    "A file that may still grow is waited for, though its kind is there and the device is not") {
  const std::string_view pieces[] = {"", "{", R"({"cdiVersion":"1.0.0","kind":"v/c","dev)",
                                     "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: other\n"
                                     "  containerEdits: {env: [A=1]}\n"};
  for (const auto piece : pieces) {
    CAPTURE(piece);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    tree.put_spec("a/x.yaml", "d");
    tree.put("a/y.yaml", piece);
    cdi::Cache cache{{a}};
    std::atomic<bool> asked = false;
    std::thread writer{[&] {
      // Once it has looked, and goes on waiting.
      CHECK(eventually([&] { return asked.load(); }));
      tree.put_spec("a/y.yaml", "e");
    }};
    // Asks again each time that somebody changes a file; `quiet` is never over.
    const struct Names {
      std::atomic<bool>* asked;
      const std::string* begin() const {
        static const std::string name = "v/c=e";
        *asked = true;
        return &name;
      }
      const std::string* end() const { return begin() + 1; }
    } names{&asked};
    CHECK(cache.wait_for(names, far(), {.quiet = 60s}));
    writer.join();
  }
}

TEST_CASE("When the deadline is over, the error has the reasons") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.json", R"({"cdiVersion":"1.0.0","kind":"v/c","dev)");
  cdi::Cache cache{{a}};
  const auto registry = cache.wait_for({"v/c=d"}, steady_clock::now() + 1ms);
  REQUIRE_FALSE(registry);
  CHECK(registry.error().code == cdi::Errc::timeout);
  CHECK(registry.error().message.starts_with("the deadline is over: cannot resolve \"v/c=d\": "));
  CHECK(registry.error().message.find(a + "/x.json:1:") != std::string::npos);
}

TEST_CASE("Readers, refreshers and writers of files run together, and every snapshot is whole") {
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
          // Fresh at the call: nobody but this thread writes the file.
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
