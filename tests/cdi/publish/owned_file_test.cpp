// Tests for include/cdi/publish/owned_file.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/publish/owned_file.hpp>
#include <cdi/publish/publish.hpp>

#include "../../support/publisher_tree.hpp"
#include "../../support/traced_child.hpp"

namespace {

namespace fs = std::filesystem;
using cdi::Publisher;

}  // namespace

TEST_CASE("A writer killed between any two system calls leaves the old file or the new one") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  for (const std::string name : {"a.json", "a.yaml"}) {
    std::string old_text;
    std::string new_text;
    REQUIRE(publisher.write(name, spec_of("new")));
    new_text = get_file(dir / name);
    REQUIRE(publisher.write(name, spec_of("old")));
    old_text = get_file(dir / name);
    std::set<std::string> seen;
    std::size_t left_over = 0;
    const auto stops = stop_everywhere(
        [&] {
          clear(dir);
          put_file(dir / name, old_text);
        },
        [&] { return publisher.write(name, spec_of("new")).has_value(); },
        [&](TracedChild& child, std::size_t stop) {
          CAPTURE(stop);
          child.kill();
          check_names(dir, {name});
          const auto text = get_file(dir / name);
          const bool whole = text == old_text || text == new_text;
          CHECK(whole);
          seen.insert(device_in(dir / name));
          left_over += dir.names().size() - 1;
          CHECK(report(publisher.prune({name})) == "unchanged " + name);
          CHECK(dir.names() == std::set<std::string>{name});
        });
    if (stops == 0) return;
    CHECK(stops > 10);
    CHECK(left_over > 0);
    CHECK(seen == std::set<std::string>{"new", "old"});
  }
}

TEST_CASE("A writer killed while it creates the directory leaves the file or none") {
  const TempDir dir;
  const Publisher publisher{"me", dir / "x/y"};
  std::set<std::string> seen;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        child.kill();
        const bool there = fs::exists(dir / "x/y/a.json");
        CHECK(device_in(dir / "x/y/a.json") == (there ? "new" : ""));
        seen.insert(there ? "file" : "none");
        CHECK(publisher.prune({"a.json"}));
        if (fs::exists(dir / "x/y")) CHECK(fs::is_empty(dir / "x/y") == !there);
        CHECK(publisher.write("a.json", spec_of("new")));
      });
  if (stops != 0) CHECK(seen.size() == 2);
}

TEST_CASE("A text is synced before the rename, and the directory after it") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  std::string calls;
  const auto record = [&](const std::function<bool()>& work) {
    TracedChild child{work};
    calls.clear();
    if (!child.tells_system_calls()) return false;
    while (child.step()) calls += child.next_action();
    return true;
  };
  const auto write = [&] {
    return publisher.write("a.json", spec_of("d")).has_value();
  };
  if (!record(write)) {
    MESSAGE("skipped 'ptrace is not permitted, or too old to tell system calls'");
    return;
  }
  CHECK(calls == "write sync rename sync ");
  REQUIRE(publisher.write("a.json", spec_of("e")));
  record(write);
  CHECK(calls == "write sync rename sync ");
  REQUIRE(publisher.write("a.json", spec_of("d")));
  record(write);
  CHECK(calls.empty());
  record([&] { return publisher.remove("a.json").has_value(); });
  CHECK(calls == "unlink sync ");
}

TEST_CASE("The temporary file of a running writer is left alone at any moment") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  std::size_t pruned = 0;
  const auto stops = stop_everywhere(
      [&] {
        clear(dir);
        REQUIRE(publisher.write("a.json", spec_of("old")));
      },
      [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        const auto done = publisher.prune({"a.json"});
        REQUIRE(done);
        pruned += done->temporaries.size();
        CHECK(child.finish());
        CHECK(device_in(dir / "a.json") == "new");
        CHECK(dir.names() == std::set<std::string>{"a.json"});
      });
  // Between two system calls it is made and not locked yet: then the writer makes another.
  if (stops != 0) CHECK(pruned > 0);
  if (stops != 0) CHECK(pruned < 4);
}

TEST_CASE("A writer creates another temporary file if a process is about to remove the first") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const cdi::Descriptor directory{::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::size_t removed = 0;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        for (const auto& name : dir.names()) {
          if (!cdi::is_temporary_name(name)) continue;
          const cdi::Descriptor file{::openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC)};
          if (!cdi::detail::is_abandoned(directory.get(), name, file)) continue;
          for (int i = 0; i < 6; ++i) child.step();  // while the remover has it locked
          REQUIRE(::unlink((dir / name).c_str()) == 0);
          ++removed;
        }
        CHECK(child.finish());
        CHECK(device_in(dir / "a.json") == "new");
        CHECK(dir.names() == std::set<std::string>{"a.json"});
      });
  if (stops != 0) CHECK(removed > 0);
}

TEST_CASE(
    "Of two owners that create the same file concurrently, one succeeds and one gets a conflict") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const Publisher other{"other", dir.path()};
  std::set<std::string> winners;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("mine")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        const auto theirs = other.write("a.json", spec_of("theirs"));
        const bool mine = child.finish();
        CHECK(theirs.has_value() != mine);
        CHECK(device_in(dir / "a.json") == (mine ? "mine" : "theirs"));
        CHECK(dir.names() == std::set<std::string>{"a.json"});
        winners.insert(device_in(dir / "a.json"));
      });
  if (stops != 0) CHECK(winners.size() == 2);
}

TEST_CASE("Two publishers of one owner that write a file concurrently both succeed") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  for (const std::string before : {"old", ""}) {
    CAPTURE(before);
    std::set<std::string> last;
    const auto stops = stop_everywhere(
        [&] {
          clear(dir);
          if (!before.empty()) REQUIRE(publisher.write("a.json", spec_of(before)));
        },
        [&] { return publisher.write("a.json", spec_of("slow")).has_value(); },
        [&](TracedChild& child, std::size_t stop) {
          CAPTURE(stop);
          CHECK(publisher.write("a.json", spec_of("fast")));
          CHECK(child.finish());
          last.insert(device_in(dir / "a.json"));
          CHECK(dir.names() == std::set<std::string>{"a.json"});
        });
    if (stops == 0) return;
    CHECK(last == std::set<std::string>{"fast", "slow"});
  }
}

TEST_CASE("A file that is replaced by a FIFO does not block a writer") {
  const TempDir dir;
  const TempDir aside;
  const Publisher publisher{"me", dir.path()};
  std::size_t rejected = 0;
  const auto stops = stop_everywhere(
      [&] {
        clear(dir);
        REQUIRE(publisher.write("a.json", spec_of("old")));
        REQUIRE(::mkfifo((aside / "fifo").c_str(), 0644) == 0);
      },
      [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        REQUIRE(::rename((aside / "fifo").c_str(), (dir / "a.json").c_str()) == 0);
        if (child.finish()) return;
        ++rejected;
        CHECK(S_ISFIFO(info_of(dir / "a.json").st_mode));
      });
  if (stops != 0) CHECK(rejected > 0);
}

TEST_CASE("Threads that write, remove and prune concurrently never show a mixed file") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  constexpr int writers = 4;
  constexpr int rounds = 15;
  std::atomic<int> writing{writers};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i) {
    threads.emplace_back([&, i] {
      const auto own = "own" + std::to_string(i) + ".json";
      for (int round = 0; round < rounds; ++round) {
        const auto spec = spec_of("d" + std::to_string(i) + "-" + std::to_string(round));
        const bool good = publisher.write("shared.json", spec) && publisher.write(own, spec) &&
                          publisher.remove("coming-and-going.json") &&
                          publisher.write("coming-and-going.json", spec);
        if (!good) ++wrong;
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    const std::set<std::string> keep{"shared.json", "own0.json", "own1.json",
                                     "own2.json",   "own3.json", "coming-and-going.json"};
    while (writing > 0) {
      const auto done = publisher.prune(keep);
      if (!done || !done->errors.empty()) ++wrong;
      const auto text = get_file(dir / "shared.json");
      if (text != "not read" && !cdi::parse_spec(text, "f", cdi::Format::json)) ++wrong;
    }
  });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(publisher.prune({"shared.json"}));
  CHECK(dir.names() == std::set<std::string>{"shared.json"});
  CHECK(device_in(dir / "shared.json").ends_with("-" + std::to_string(rounds - 1)));
}

TEST_CASE("Processes that write the same file concurrently leave one complete file") {
  const TempDir dir;
  constexpr int writers = 4;
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int i = 0; i < writers; ++i) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool good = true;
      const Publisher publisher{"me", dir.path()};
      for (int round = 0; round < 15; ++round) {
        const auto done = publisher.reconcile({{"shared.json", spec_of("d" + std::to_string(i))}});
        good = good && done && done->errors.empty();
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(dir.names() == std::set<std::string>{"shared.json"});
  CHECK(device_in(dir / "shared.json").size() == 2);
}
