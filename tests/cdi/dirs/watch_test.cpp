// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/watch.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>

#include "../../temp_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Names = std::vector<std::string>;

/// A tree with what changes it in all the ways there are.
class Tree : public TempTree {
 public:
  std::string make_dirs(std::string_view name) const {
    fs::create_directories(*this / name);
    return *this / name;
  }
  void put(std::string_view name, std::string_view text = "text") const {
    TempTree::put(name, text);
  }
  void move(std::string_view from, std::string_view to) const {
    REQUIRE(::rename((*this / from).c_str(), (*this / to).c_str()) == 0);
  }
  void remove(std::string_view name) const { fs::remove_all(*this / name); }
  void link(const std::string& to, std::string_view name) const {
    TempTree::link(to.c_str(), name);
  }
  void mode(std::string_view name, mode_t mode) const {
    REQUIRE(::chmod((*this / name).c_str(), mode) == 0);
  }
};

/// A watcher of directories that can be watched.
cdi::Watcher watch(const Names& dirs) {
  auto watcher = cdi::Watcher::open(dirs);
  const std::string why = watcher ? "" : to_string(watcher.error());
  INFO(why);
  REQUIRE(watcher);
  return std::move(*watcher);
}

/// Whether something was told, and all of it was taken at once.
bool reports_change(cdi::Watcher& watcher) {
  const bool changed = watcher.consume();
  CHECK_FALSE(watcher.consume());
  return changed;
}

bool readable(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

/// Leads back to where the process was. Of a relative path only what it names is watched, so that
/// others who work in "/tmp" make no events.
class Return {
 public:
  Return() = default;
  Return(const Return&) = delete;
  Return& operator=(const Return&) = delete;
  ~Return() { fs::current_path(before_); }

 private:
  fs::path before_ = fs::current_path();
};

/// How many watches a watcher holds.
std::size_t watches_of(const cdi::Watcher& watcher) {
  std::ifstream file{"/proc/self/fdinfo/" + std::to_string(watcher.descriptor())};
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("inotify ")) ++count;
  }
  return count;
}

/// Changes a byte of a file through a memory map.
void write_mapped(const std::string& path) {
  const cdi::Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  REQUIRE(file);
  void* const bytes = ::mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, file.get(), 0);
  REQUIRE(bytes != MAP_FAILED);
  *static_cast<char*>(bytes) = 'T';
  CHECK(::munmap(bytes, 1) == 0);
}

struct Change {
  std::string_view name;
  std::function<void(const Tree&)> make;
};

/// Makes each change to a tree with the watched directory `a`, which holds `x.json`, and with `b`,
/// which holds `y.json`; gives the names of those that are told.
Names reported(const std::vector<Change>& changes) {
  Names names;
  for (const auto& change : changes) {
    const Tree tree;
    const auto dir = tree.make_dirs("a");
    tree.make_dirs("a/sub");
    tree.make_dirs("b");
    tree.put("a/x.json");
    tree.put("b/y.json");
    auto watcher = watch({dir});
    CHECK_FALSE(watcher.consume());
    change.make(tree);
    if (reports_change(watcher)) names.emplace_back(change.name);
  }
  return names;
}

Names names_of(const std::vector<Change>& changes) {
  Names names;
  for (const auto& change : changes) names.emplace_back(change.name);
  return names;
}

}  // namespace

static_assert(!std::is_copy_constructible_v<cdi::Watcher>);
static_assert(std::is_move_constructible_v<cdi::Watcher>);
static_assert(std::is_move_assignable_v<cdi::Watcher>);

TEST_CASE("Each change of a spec file is reported") {
  const std::vector<Change> changes = {
      {"create and write",
       [](const Tree& t) {
         t.put("a/new.yaml");
       }},
      {"create an empty file",
       [](const Tree& t) {
         t.put("a/new.yaml", "");
       }},
      {"write in place",
       [](const Tree& t) {
         t.put("a/x.json");
       }},
      {"write through a memory map",
       [](const Tree& t) {
         write_mapped(t / "a/x.json");
       }},
      {"truncate",
       [](const Tree& t) {
         fs::resize_file(t / "a/x.json", 1);
       }},
      {"remove",
       [](const Tree& t) {
         t.remove("a/x.json");
       }},
      {"move out",
       [](const Tree& t) {
         t.move("a/x.json", "b/x.json");
       }},
      {"move in",
       [](const Tree& t) {
         t.move("b/y.json", "a/y.json");
       }},
      {"move in over a file",
       [](const Tree& t) {
         t.move("b/y.json", "a/x.json");
       }},
      {"rename to no spec",
       [](const Tree& t) {
         t.move("a/x.json", "a/x.json.off");
       }},
      {"replace_file",
       [](const Tree& t) {
         CHECK(cdi::replace_file(t / "a/x.json", "other"));
       }},
      {"hard link",
       [](const Tree& t) {
         fs::create_hard_link(t / "b/y.json", t / "a/y.json");
       }},
      {"symbolic link",
       [](const Tree& t) {
         t.link("../b/y.json", "a/y.json");
       }},
      {"another mode",
       [](const Tree& t) {
         t.mode("a/x.json", 0600);
       }},
      {"another mode of the directory",
       [](const Tree& t) {
         t.mode("a", 0700);
       }},
  };
  CHECK(reported(changes) == names_of(changes));
}

TEST_CASE("Changes of other files are not reported") {
  const std::vector<Change> changes = {
      {"read",
       [](const Tree& t) {
         CHECK(cdi::read_file(t / "a/x.json"));
       }},
      {"other end",
       [](const Tree& t) {
         t.put("a/x.yml");
       }},
      {"temporary file",
       [](const Tree& t) {
         t.put("a/.x.json.123-0.tmp");
       }},
      {"spec file of a subdirectory",
       [](const Tree& t) {
         t.put("a/sub/x.json");
       }},
      {"spec file beside the directory",
       [](const Tree& t) {
         t.put("x.json");
       }},
      {"other directory",
       [](const Tree& t) {
         t.put("b/y.json");
       }},
      {"directory of a similar name",
       [](const Tree& t) {
         t.make_dirs("ab");
       }},
      {"another mode of other files",
       [](const Tree& t) {
         t.mode("a/sub", 0700);
         t.mode("b", 0700);
       }},
  };
  CHECK(reported(changes) == Names{});
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
  const Tree tree;
  tree.make_dirs("one/cdi");
  tree.make_dirs("two/cdi");
  const auto retarget = [&](const std::string& to, std::string_view name) {
    tree.link(to, "new-link");
    tree.move("new-link", name);
  };
  std::string dir;
  std::function<void()> change;

  SUBCASE("the directory is a link") {
    tree.link("one/cdi", "link");
    dir = "link";
    change = [&] {
      retarget("two/cdi", "link");
    };
  }
  SUBCASE("by an absolute path") {
    tree.link(tree / "one/cdi", "link");
    dir = "link";
    change = [&] {
      retarget(tree / "two/cdi", "link");
    };
  }
  SUBCASE("a link in the middle") {
    tree.link("one", "link");
    dir = "link/cdi";
    change = [&] {
      retarget("two", "link");
    };
  }
  SUBCASE("a link to a link") {
    tree.make_dirs("links");
    tree.link("../one", "links/second");
    tree.link("links/second/cdi", "link");
    dir = "link";
    change = [&] {
      retarget("../two", "links/second");
    };
  }
  SUBCASE("a link to nothing yet") {
    tree.link("three/cdi", "link");
    dir = "link";
    change = [&] {
      tree.move("two", "three");
    };
  }
  SUBCASE("a link to itself") {
    tree.link("link", "link");
    dir = "link";
    change = [&] {
      retarget("two/cdi", "link");
    };
  }
  SUBCASE("the target is replaced") {
    tree.link(tree / "one/cdi", "link");
    dir = "link";
    change = [&] {
      tree.move("one", "old");
      tree.move("two", "one");
    };
  }
  auto watcher = watch({tree / dir});
  CHECK_FALSE(watcher.consume());
  change();
  CHECK(reports_change(watcher));
  tree.put(dir + "/x.json");
  CHECK(reports_change(watcher));
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
  const Nobody nobody;
  if (!nobody) return;
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
  const Nobody nobody;
  if (!nobody) return;
  const Tree tree;
  tree.make_dirs("outer/cdi");
  tree.mode("outer", 0311);
  fs::current_path(tree / "");
  auto watcher = watch({"outer/cdi"});
  tree.put("outer/cdi/x.json");
  CHECK(reports_change(watcher));

  // From when it is gone nothing tells that it comes.
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
  const Nobody nobody;
  if (!nobody) return;
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

TEST_CASE("The descriptor is readable until the events are consumed") {
  const Return guard;
  const Tree tree;
  tree.make_dirs("a");
  fs::current_path(tree / "");
  auto watcher = watch({"a"});
  CHECK_FALSE(readable(watcher.descriptor()));
  for (const char* end : {".json", ".tmp"}) {
    for (int i = 0; i < 1000; ++i) tree.put("a/" + std::to_string(i) + end);
  }
  CHECK(readable(watcher.descriptor()));
  CHECK(watcher.consume());
  CHECK_FALSE(readable(watcher.descriptor()));
  CHECK_FALSE(watcher.consume());
}

TEST_CASE("Lost events count as a change, and all paths are resolved again") {
  std::size_t most = 0;
  std::ifstream{"/proc/sys/fs/inotify/max_queued_events"} >> most;
  if (most == 0 || most > 1'000'000) {
    MESSAGE("skipped 'the queue of inotify is too long to fill'");
    return;
  }
  const Tree tree;
  auto watcher = watch({tree.make_dirs("a"), tree / "late"});
  tree.put("a/1");
  tree.put("a/2");
  CHECK_FALSE(watcher.consume());
  // Of the same event twice in a row the queue keeps one.
  for (std::size_t i = 0; i <= most / 2; ++i) {
    tree.mode("a/1", 0600);
    tree.mode("a/2", 0600);
  }
  tree.make_dirs("late");
  CHECK(reports_change(watcher));
  tree.put("late/x.json");
  CHECK(reports_change(watcher));
}

TEST_CASE("Without free descriptors there is no watcher, and the error has the reason") {
  const Tree tree;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto watcher = cdi::Watcher::open({tree / "a"});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(watcher);
  CHECK(watcher.error().code == cdi::Errc::system);
  CHECK(watcher.error().system == EMFILE);
  CHECK(to_string(watcher.error()) ==
        "inotify is not available: Too many open files; raise fs.inotify.max_user_instances or the "
        "limit of open files");
}

namespace {

/// Sets how many watches the user namespace of this process may have.
bool allow_watches(int count) {
  std::ofstream file{"/proc/sys/user/max_inotify_watches"};
  file << count << std::flush;
  return file.good();
}

/// Of a child in a user namespace of its own: the number of the first step that goes wrong, or 0.
int run_out_of_watches(const Tree& tree) noexcept {
  if (!allow_watches(1)) return 1;
  const auto refused = cdi::Watcher::open({tree / "a"});
  if (refused || refused.error().system != ENOSPC) return 2;
  if (!refused.error().message.ends_with("; raise fs.inotify.max_user_watches")) return 3;

  if (!allow_watches(1000)) return 4;
  auto watcher = cdi::Watcher::open({tree / "a", tree / "late"});
  if (!watcher || watcher->consume()) return 5;
  if (!allow_watches(1)) return 6;
  tree.make_dirs("late");
  if (!watcher->consume() || !watcher->watch_error() || watcher->watch_error()->system != ENOSPC)
    return 7;
  tree.put("late/x.json");
  if (!watcher->consume() || !watcher->consume()) return 8;
  if (!allow_watches(1000)) return 9;
  if (!watcher->wait_until(Clock::now()) || watcher->watch_error() || watcher->consume()) return 10;
  tree.put("late/x.json");
  return watcher->consume() ? 0 : 11;
}

}  // namespace

TEST_CASE("Without free watches there is no watcher, or a watcher that always reports a change") {
  const Tree tree;
  tree.make_dirs("a");
  constexpr int not_allowed = 100;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool own = ::unshare(CLONE_NEWUSER) == 0 && allow_watches(1000);
    ::_exit(own ? run_out_of_watches(tree) : not_allowed);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_allowed) {
    MESSAGE("skipped 'no user namespace may be made here'");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("No descriptor stays open, whether a watcher is moved, assigned or refused") {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{});
  };
  const auto before = open_files();
  const Tree tree;
  tree.make_dirs("a");
  {
    auto first = watch({tree / "missing"});
    CHECK(open_files() == before + 1);
    auto second = watch({tree / "a"});
    const int descriptor = second.descriptor();
    first = std::move(second);
    CHECK(first.descriptor() == descriptor);
    auto third = std::move(first);
    tree.put("a/x.json");
    CHECK(reports_change(third));
  }
  CHECK(open_files() == before);
}

TEST_CASE("Waiting ends at the deadline, and at once after it") {
  const Tree tree;
  auto watcher = watch({tree.make_dirs("a")});
  CHECK_FALSE(watcher.wait_until(Clock::now()));
  CHECK_FALSE(watcher.wait_until(Clock::time_point::min()));
  const auto deadline = Clock::now() + 20ms;
  CHECK_FALSE(watcher.wait_until(deadline));
  CHECK(Clock::now() >= deadline);
  tree.put("a/x.json");
  CHECK(watcher.wait_until(Clock::time_point::min()));
  CHECK_FALSE(watcher.wait_until(Clock::now()));
}

TEST_CASE("A change of a spec file ends the wait; other files and signals do not") {
  const Tree tree;
  auto watcher = watch({tree.make_dirs("a")});
  struct sigaction before = {};
  struct sigaction ignore = {};
  ignore.sa_handler = [](int) {
  };  // without SA_RESTART: system calls are interrupted
  REQUIRE(::sigaction(SIGUSR1, &ignore, &before) == 0);
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> written = false;
    const pthread_t waiting = ::pthread_self();
    std::thread writer{[&] {
      for (int i = 0; i < 50; ++i) {
        tree.put("a/.x.json.tmp");
        ::pthread_kill(waiting, SIGUSR1);
      }
      written = true;
      tree.move("a/.x.json.tmp", "a/x.json");
    }};
    CHECK(watcher.wait_until(Clock::time_point::max()));
    CHECK(written);
    writer.join();
    CHECK_FALSE(watcher.consume());
  }
  REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
}

TEST_CASE("No change of another thread is missed") {
  const Tree tree;
  auto watcher = watch({tree / "a/b"});
  constexpr int rounds = 300;
  std::atomic<int> seen = 0;
  std::thread writer{[&] {
    for (int round = 1; round <= rounds; ++round) {
      tree.make_dirs("new/b");
      tree.put("new/b/x.json", std::to_string(round));
      if (round % 3 == 0) {
        tree.remove("a");
        tree.make_dirs("a/b");
        tree.move("new/b/x.json", "a/b/x.json");
        tree.remove("new");
      } else {
        tree.remove("old");
        if (fs::exists(tree / "a")) tree.move("a", "old");
        tree.move("new", "a");
      }
      while (seen < round) std::this_thread::yield();
    }
  }};
  for (int round = 1; round <= rounds;) {
    const auto text = cdi::read_file(tree / "a/b/x.json");
    if (text && *text == std::to_string(round)) {
      seen = round++;
    } else if (!watcher.wait_until(Clock::now() + 60s)) {
      FAIL_CHECK("a change was missed");
      seen = rounds;
      break;
    }
  }
  writer.join();
}
