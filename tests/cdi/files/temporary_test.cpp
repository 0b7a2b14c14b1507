// Tests for include/cdi/files/temporary.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/lock.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>

#include "../../support/forbidden_call.hpp"
#include "../../support/open_dir.hpp"
#include "../../support/temp_tree.hpp"

namespace {

/// The numbers that the system gives at random, when it is not to give others.
std::deque<std::uint64_t> random_numbers;
bool no_random_numbers = false;

}  // namespace

// In place of the one of the C library, so that chance can be foreseen here.
extern "C" ssize_t getrandom(void* to, std::size_t size, unsigned flags) {
  if (no_random_numbers) {
    errno = EAGAIN;
    return -1;
  }
  if (random_numbers.empty()) return ::syscall(SYS_getrandom, to, size, flags);
  REQUIRE(size == sizeof random_numbers.front());
  std::memcpy(to, &random_numbers.front(), size);
  random_numbers.pop_front();
  return static_cast<ssize_t>(size);
}

namespace {

/// Opens a temporary file as one who removes what is abandoned does.
cdi::Descriptor open_to_remove(int directory, const std::string& name) {
  return cdi::Descriptor{
      ::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
}

bool is_abandoned(int directory, const std::string& name) {
  return cdi::detail::is_abandoned(directory, name, open_to_remove(directory, name));
}

}  // namespace

TEST_CASE("Names of temporary files are recognised") {
  using cdi::is_temporary_name;
  for (const std::string& name :
       {std::string{"a.json"}, std::string(255, 'n'), std::string{"x.1-2"}}) {
    const auto made = cdi::detail::temporary_name(name, ~std::uint64_t{0});
    CAPTURE(made);
    CHECK(is_temporary_name(made));
    CHECK(cdi::detail::temporary_target(made) == name.substr(0, 200));
    CHECK(made.size() <= 255);
    CHECK_FALSE(made.ends_with(".json"));
    CHECK_FALSE(made.ends_with(".yaml"));
  }
  CHECK(cdi::detail::temporary_target(".a.json.1-0.cdi-tmp") == "a.json");
  for (const std::string name :
       {"a.json", ".a.json", "a.json.1-0.cdi-tmp", ".a.json.1-0.tmp", ".a.json.1-.cdi-tmp",
        ".a.json.-1.cdi-tmp", ".a.json.1.cdi-tmp", ".a.json.1-0x.cdi-tmp", ".a.json.x1-0.cdi-tmp",
        ".a.json1-0.cdi-tmp", ".1-0.cdi-tmp", ".cdi-tmp", "", ".", ".a.json.1-0.cdi-tmp.json"}) {
    CAPTURE(name);
    CHECK_FALSE(is_temporary_name(name));
  }
}

TEST_CASE("A temporary file is removed unless it was renamed") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  {
    cdi::detail::Temporary temporary{directory.get(), "a"};
    REQUIRE(temporary.fill(dir / "a", "text", {}));
    CHECK(dir.names() == std::set<std::string>{temporary.name()});
  }
  CHECK(dir.names().empty());
  {
    cdi::detail::Temporary temporary{directory.get(), "a"};
    REQUIRE(temporary.fill(dir / "a", "text", {}));
    CHECK(temporary.replace("a"));
  }
  CHECK(dir.names() == std::set<std::string>{"a"});
}

TEST_CASE("An error about a directory that denies writing says who may") {
  const TempTree dir;
  REQUIRE(::chmod(dir.path().c_str(), 0555) == 0);
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const auto directory = open_dir(dir.path());
  cdi::detail::Temporary temporary{directory.get(), "a"};
  const auto filled = temporary.fill(dir / "a", "text", {});
  REQUIRE_FALSE(filled);
  CHECK(filled.error().system == EACCES);
  CHECK(filled.error().message.find(": mode 0555, owner ") != std::string::npos);
}

namespace {

/// Checks in a directory that `create` makes new files, and leaves old files and links as they are.
void check_create(const TempTree& dir) {
  const auto directory = open_dir(dir.path());
  put_file(dir / "there", "old");
  CHECK(::symlink("gone", (dir / "link").c_str()) == 0);
  for (const std::string name : {"there", "link"}) {
    CAPTURE(name);
    cdi::detail::Temporary temporary{directory.get(), name};
    CHECK(temporary.fill(dir / name, "new", {}));
    CHECK_FALSE(temporary.create(name));
    CHECK(errno == EEXIST);
  }
  CHECK(get_file(dir / "there") == "old");
  {
    cdi::detail::Temporary temporary{directory.get(), "new"};
    CHECK(temporary.fill(dir / "new", "new", {}));
    CHECK(temporary.create("new"));
  }
  CHECK(get_file(dir / "new") == "new");
  CHECK(dir.names() == std::set<std::string>{"link", "new", "there"});
}

}  // namespace

TEST_CASE("create fails if there is a file") {
  check_create(TempTree{});
}

TEST_CASE("create fails if there is a file, on file systems whose renames always replace") {
  const TempTree dir;
  bool is_forbidden = false;
  std::thread{[&] {
    is_forbidden = forbid_call(SYS_renameat2, EINVAL);
    check_create(dir);
  }}.join();
  if (!is_forbidden) MESSAGE("this kernel has no filters of system calls: renameat2 was used");
}

#ifdef SYS_renameat  // else the C library uses renameat2 for all renames
TEST_CASE("A file system without links and without such renames gets the new file") {
  const TempTree dir;
  std::thread{[&] {
    const bool is_forbidden = forbid_call(SYS_renameat2, EINVAL) && forbid_call(SYS_linkat, EPERM);
    const auto directory = open_dir(dir.path());
    cdi::detail::Temporary temporary{directory.get(), "new"};
    CHECK(temporary.fill(dir / "new", "new", {}));
    CHECK(temporary.create("new"));
    CHECK(dir.names() == std::set<std::string>{"new"});
    if (!is_forbidden) MESSAGE("this kernel has no filters of system calls: renameat2 was used");
  }}.join();
}
#endif

TEST_CASE("A temporary file is abandoned after its writer has ended") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  std::string name;
  {
    const auto file = cdi::detail::make_temporary(directory.get(), "a.json", name);
    REQUIRE(file);
    CHECK(mode_of(dir / name) == 0600);
    CHECK_FALSE(is_abandoned(directory.get(), name));
  }
  CHECK(is_abandoned(directory.get(), name));
  CHECK_FALSE(is_abandoned(directory.get(), "missing"));
}

TEST_CASE("A file that is renamed meanwhile is not abandoned") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  std::string name;
  cdi::detail::make_temporary(directory.get(), "a.json", name);
  const auto opened = open_to_remove(directory.get(), name);
  REQUIRE(::rename((dir / name).c_str(), (dir / "a.json").c_str()) == 0);
  CHECK_FALSE(cdi::detail::is_abandoned(directory.get(), name, opened));
  put_file(dir / name, "of the next writer");
  CHECK_FALSE(cdi::detail::is_abandoned(directory.get(), name, opened));
}

TEST_CASE("A writer does not take a name that exists, and leaves a file that is being removed") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  const auto taken = cdi::detail::temporary_name("a", 5);
  put_file(dir / taken, "of a writer in another PID namespace");
  std::string name;
  random_numbers = {5, 5, 6};
  const auto file = cdi::detail::make_temporary(directory.get(), "a", name);
  CHECK(name == cdi::detail::temporary_name("a", 6));
  // The process that holds the lock is about to remove the file.
  const auto remover = cdi::detail::open_abandoned(directory.get(), taken);
  REQUIRE(remover);
  const auto second = open_to_remove(directory.get(), taken);
  CHECK_FALSE(cdi::detail::try_lock(second.get()));
  CHECK(errno == EWOULDBLOCK);
}

TEST_CASE("Names that are occupied beforehand cannot prevent a write") {
  const TempTree dir;
  for (const bool none : {false, true}) {
    no_random_numbers = none;
    for (std::uint64_t i = 0; i < 1000; ++i)
      put_file(dir / cdi::detail::temporary_name("a", i), "");
    CHECK(cdi::replace_file(dir / "a", "text"));
  }
  no_random_numbers = false;
  CHECK(get_file(dir / "a") == "text");
}

TEST_CASE("A writer gives up if all names are occupied") {
  const TempTree dir;
  const auto taken = cdi::detail::temporary_name("a", 5);
  put_file(dir / taken, "");
  random_numbers.assign(1000, 5);
  const auto done = cdi::replace_file(dir / "a", "text");
  random_numbers.clear();
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EEXIST);
  CHECK(dir.names() == std::set<std::string>{taken});
}

TEST_CASE("Only a regular file is opened as a temporary one, and links are not followed") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  dir.put("file", "");
  dir.link("file", "link");
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  for (const std::string name : {"link", "fifo", ".", "missing"}) {
    CAPTURE(name);
    CHECK_FALSE(cdi::detail::open_abandoned(directory.get(), name));
  }
  CHECK(cdi::detail::open_abandoned(directory.get(), "file"));
}

TEST_CASE("The temporary files of one file are removed if their writers are gone") {
  const TempTree dir;
  const auto directory = open_dir(dir.path());
  const std::set<std::string> others{".a.bak.1-2.cdi-tmp", ".a.1-.cdi-tmp", ".b.1-2.cdi-tmp",
                                     "a.1-2"};
  for (const auto& name : others) dir.put(name, "");
  for (const auto* name : {".a.1-0.cdi-tmp", ".a.7-99.cdi-tmp"}) dir.put(name, "");
  const std::string longest(255, 'n');  // a temporary name has 200 bytes of it
  dir.put("." + longest.substr(0, 200) + ".1-2.cdi-tmp", "");
  const cdi::detail::Temporary living{directory.get(), "a"};
  cdi::remove_temporaries_of(directory.get(), "a");
  cdi::remove_temporaries_of(directory.get(), longest);
  auto left = others;
  left.insert(living.name());
  CHECK(dir.names() == left);
}
