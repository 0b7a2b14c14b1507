// Tests for include/cdi/dirs/watch.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/watch.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>

#include "../../support/watch_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

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
/// which holds `y.json`; gives the names of the reported changes.
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
  std::size_t max = 0;
  std::ifstream{"/proc/sys/fs/inotify/max_queued_events"} >> max;
  if (max == 0 || max > 1'000'000) {
    MESSAGE("skipped 'the queue of inotify is too long to fill'");
    return;
  }
  const Tree tree;
  auto watcher = watch({tree.make_dirs("a"), tree / "late"});
  tree.put("a/1");
  tree.put("a/2");
  CHECK_FALSE(watcher.consume());
  // Of the same event twice in a row the queue keeps one.
  for (std::size_t i = 0; i <= max / 2; ++i) {
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
        "inotify is not available: " + std::string{std::strerror(EMFILE)} +
            ": raise fs.inotify.max_user_instances or the limit on open files");
}

namespace {

/// Sets how many watches the user namespace of this process may have.
bool allow_watches(int count) {
  std::ofstream file{"/proc/sys/user/max_inotify_watches"};
  file << count << std::flush;
  return file.good();
}

/// For a child in a user namespace of its own: the number of the first step that fails, or 0.
int run_out_of_watches(const Tree& tree) noexcept {
  if (!allow_watches(1)) return 1;
  const auto rejected = cdi::Watcher::open({tree / "a"});
  if (rejected || rejected.error().system != ENOSPC) return 2;
  if (rejected.error().advice != "raise fs.inotify.max_user_watches") return 3;

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
