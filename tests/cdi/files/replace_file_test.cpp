// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/replace_file.hpp>

#include "../../temp_tree.hpp"

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

cdi::Descriptor open_dir(const TempTree& dir) {
  return cdi::Descriptor{::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

/// Opens a temporary file as one who removes what is abandoned does.
cdi::Descriptor open_to_remove(int directory, const std::string& name) {
  return cdi::Descriptor{
      ::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
}

bool is_abandoned(int directory, const std::string& name) {
  return cdi::detail::is_abandoned(directory, name, open_to_remove(directory, name));
}

}  // namespace

TEST_CASE("A file is made or replaced with its mode whatever the umask, and nothing is left over") {
  const TempTree dir;
  const auto umask = ::umask(077);
  CHECK(cdi::replace_file(dir / "a", "one"));
  CHECK(get_file(dir / "a") == "one");
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(::chmod((dir / "a").c_str(), 0400) == 0);
  CHECK(cdi::replace_file(dir / "a", std::string(200'000, 'x')));
  CHECK(get_file(dir / "a") == std::string(200'000, 'x'));
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(cdi::replace_file(dir / "b", "", 0600));
  CHECK(mode_of(dir / "b") == 0600);
  CHECK(get_file(dir / "b").empty());
  ::umask(umask);
  CHECK(dir.names() == std::set<std::string>{"a", "b"});
}

TEST_CASE("A link is replaced, not followed; an old reader keeps the old text") {
  const TempTree dir;
  put_file(dir / "old", "old");
  REQUIRE(::symlink("old", (dir / "link").c_str()) == 0);
  REQUIRE(::link((dir / "old").c_str(), (dir / "hard").c_str()) == 0);
  CHECK(cdi::replace_file(dir / "link", "new"));
  CHECK(cdi::replace_file(dir / "hard", "new"));
  CHECK(get_file(dir / "old") == "old");
  CHECK(get_file(dir / "link") == "new");
  struct stat info = {};
  CHECK(::lstat((dir / "link").c_str(), &info) == 0);
  CHECK(S_ISREG(info.st_mode));
}

TEST_CASE("A write that fails leaves the old text and no temporary file") {
  const TempTree dir;
  put_file(dir / "file", "old");
  REQUIRE(::mkdir((dir / "dir").c_str(), 0700) == 0);
  struct {
    std::string path;
    int system;
  } const rows[] = {
      {dir / "missing/file", ENOENT},
      {dir / "file/file", ENOTDIR},
      {dir / "dir", EISDIR},
      {dir / std::string(256, 'n'), ENAMETOOLONG},
      {dir / "dir/", EINVAL},
      {dir / "file/", EINVAL},
      {dir / ".", EINVAL},
      {dir / "dir/..", EINVAL},
      {"", EINVAL},
      {"/", EINVAL},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto done = cdi::replace_file(row.path, "new");
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::system);
    CHECK(done.error().system == row.system);
    CHECK(done.error().position.file == row.path);
    CHECK(dir.names() == std::set<std::string>{"dir", "file"});
  }
  CHECK(get_file(dir / "file") == "old");
}

TEST_CASE("The longest name that a file can have will do") {
  const TempTree dir;
  const std::string name(255, 'n');
  CHECK(cdi::replace_file(dir / name, "x"));
  CHECK(dir.names() == std::set<std::string>{name});
}

TEST_CASE("A directory that cannot be written leaves the old text") {
  const Nobody nobody;
  if (!nobody) return;
  const TempTree dir;
  put_file(dir / "file", "old");
  REQUIRE(::chmod((dir / ".").c_str(), 0500) == 0);
  const auto done = cdi::replace_file(dir / "file", "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EACCES);
  CHECK(get_file(dir / "file") == "old");
}

TEST_CASE("A path without slash is in the current directory") {
  const TempTree dir;
  char before[4096];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  REQUIRE(::chdir((dir / ".").c_str()) == 0);
  const auto done = cdi::replace_file("a", "text");
  const auto read = get_file("a");
  REQUIRE(::chdir(before) == 0);
  CHECK(done);
  CHECK(read == "text");
  CHECK(dir.names() == std::set<std::string>{"a"});
}

TEST_CASE("A full disk leaves the old text and no temporary file") {
  const TempTree dir;
  put_file(dir / "file", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto done = cdi::replace_file(dir / "file", std::string(2000, 'x'));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EFBIG);
  CHECK(done.error().message.starts_with("cannot write: "));
  CHECK(get_file(dir / "file") == "old");
  CHECK(dir.names() == std::set<std::string>{"file"});
}

TEST_CASE("No descriptor is left open, whatever the outcome") {
  const TempTree dir;
  const auto before = open_files();
  for (const std::string name : {"a", "missing/a", "."}) {
    CHECK(cdi::replace_file(dir / name, "text").has_value() == (name == "a"));
  }
  CHECK_FALSE(cdi::replace_file(dir / std::string(256, 'n'), ""));
  CHECK(open_files() == before);
}

TEST_CASE("Names of temporary files are told from all others") {
  using cdi::detail::is_temporary_name;
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

TEST_CASE("A temporary file goes with its writer, unless it was renamed") {
  const TempTree dir;
  const auto directory = open_dir(dir);
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

TEST_CASE("A file is made only where none is") {
  const TempTree dir;
  const auto directory = open_dir(dir);
  put_file(dir / "there", "old");
  REQUIRE(::symlink("gone", (dir / "link").c_str()) == 0);
  for (const std::string name : {"there", "link"}) {
    CAPTURE(name);
    cdi::detail::Temporary temporary{directory.get(), name};
    REQUIRE(temporary.fill(dir / name, "new", {}));
    const bool made = temporary.create(name);
    if (made) {
      MESSAGE("skipped 'the file system replaces files always'");
      return;
    }
    CHECK(errno == EEXIST);
  }
  CHECK(get_file(dir / "there") == "old");
  cdi::detail::Temporary temporary{directory.get(), "new"};
  REQUIRE(temporary.fill(dir / "new", "new", {}));
  CHECK(temporary.create("new"));
  CHECK(dir.names() == std::set<std::string>{"link", "new", "there"});
}

TEST_CASE("A temporary file is abandoned when its writer is gone, and not before") {
  const TempTree dir;
  const auto directory = open_dir(dir);
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

TEST_CASE("What a writer renames meanwhile is not taken for abandoned") {
  const TempTree dir;
  const auto directory = open_dir(dir);
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
  const auto directory = open_dir(dir);
  const auto taken = cdi::detail::temporary_name("a", 5);
  put_file(dir / taken, "of a writer in another PID namespace");
  std::string name;
  random_numbers = {5, 5, 6};
  const auto file = cdi::detail::make_temporary(directory.get(), "a", name);
  CHECK(name == cdi::detail::temporary_name("a", 6));
  // Whoever holds the lock is about to remove the file.
  const auto remover = cdi::detail::open_abandoned(directory.get(), taken);
  REQUIRE(remover);
  const auto second = open_to_remove(directory.get(), taken);
  CHECK_FALSE(cdi::detail::try_lock(second.get()));
  CHECK(errno == EWOULDBLOCK);
}

TEST_CASE("Nobody can keep a file from being written by names taken beforehand") {
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

TEST_CASE("A writer gives up when all names are taken") {
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

TEST_CASE("What only looks like a temporary file is not opened, nor followed") {
  const TempTree dir;
  const auto directory = open_dir(dir);
  dir.put("file", "");
  dir.link("file", "link");
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  for (const std::string name : {"link", "fifo", ".", "missing"}) {
    CAPTURE(name);
    CHECK_FALSE(cdi::detail::open_abandoned(directory.get(), name));
  }
  CHECK(cdi::detail::open_abandoned(directory.get(), "file"));
}
