// Tests for include/cdi/files/replace_file.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/signature.hpp>

#include "../../support/open_dir.hpp"
#include "../../support/temp_tree.hpp"

namespace {

int syncs = 0;

cdi::Signature signature_of(const std::string& path) {
  struct stat info = {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return cdi::signature_of(info);
}

}  // namespace

/// Counts the calls of the library.
extern "C" int fsync(int descriptor) {
  ++syncs;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

TEST_CASE(
    "A file is created or replaced with its mode, whatever the umask, and no other file is left") {
  const TempTree dir;
  const auto umask = ::umask(077);
  CHECK(cdi::replace_file(dir / "a", "one"));
  CHECK(get_file(dir / "a") == "one");
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(::chmod((dir / "a").c_str(), 0400) == 0);
  CHECK(cdi::replace_file(dir / "a", std::string(200'000, 'x')));
  CHECK(get_file(dir / "a") == std::string(200'000, 'x'));
  CHECK(mode_of(dir / "a") == 0644);
  CHECK(cdi::replace_file(dir / "b", "", {.mode = 0600}));
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

TEST_CASE("The longest possible name of a file works") {
  const TempTree dir;
  const std::string name(255, 'n');
  CHECK(cdi::replace_file(dir / name, "x"));
  CHECK(dir.names() == std::set<std::string>{name});
}

TEST_CASE("A directory that cannot be written leaves the old text") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
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

TEST_CASE("A file of an open directory is replaced there, wherever its path leads to now") {
  const TempTree tree;
  for (const auto* name : {"dir", "other"}) tree.make_dir(name);
  const cdi::Descriptor directory{
      ::open((tree / "dir").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  REQUIRE(::rename((tree / "dir").c_str(), (tree / "moved").c_str()) == 0);
  tree.link("other", "dir");
  CHECK(cdi::replace_file_at(directory.get(), "a", "text", tree / "dir/a", {.mode = 0600}));
  CHECK(get_file(tree / "moved/a") == "text");
  CHECK(mode_of(tree / "moved/a") == 0600);
  CHECK(::access((tree / "other/a").c_str(), F_OK) != 0);
  for (const std::string name : {"", ".", "..", "../a", "/a", "a/"}) {
    CAPTURE(name);
    const auto done = cdi::replace_file_at(directory.get(), name, "text", "the path");
    REQUIRE_FALSE(done);
    CHECK(done.error().system == EINVAL);
    CHECK(done.error().position.file == "the path");
  }
  CHECK_FALSE(cdi::replace_file_at(-1, "a", "text", "a"));
}

TEST_CASE("A file is rewritten with its mode, unless it was changed after it was read") {
  const TempTree tree;
  const auto directory = open_dir(tree.path());
  tree.put("file", "old");
  REQUIRE(::chmod((tree / "file").c_str(), 0640) == 0);
  const auto rewrite = [&](const cdi::Signature& expected) {
    return cdi::rewrite_file_at(directory.get(), "file", "new", tree / "file", expected);
  };
  auto read = signature_of(tree / "file");
  CHECK(rewrite(read));
  CHECK(get_file(tree / "file") == "new");
  CHECK(mode_of(tree / "file") == 0640);

  auto done = rewrite(read);  // another file has the name now
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::conflict);
  CHECK(done.error().position.file == tree / "file");

  read = signature_of(tree / "file");
  tree.put("file", "longer text");
  CHECK_FALSE(rewrite(read));
  CHECK(get_file(tree / "file") == "longer text");

  REQUIRE(::unlink((tree / "file").c_str()) == 0);
  done = rewrite(read);
  REQUIRE_FALSE(done);
  CHECK(done.error().system == ENOENT);
  CHECK(tree.names().empty());
}

TEST_CASE("A file that another process locks is not rewritten") {
  const TempTree tree;
  const auto directory = open_dir(tree.path());
  tree.put("file", "old");
  const auto read = signature_of(tree / "file");
  const auto rewrite = [&] {
    return cdi::rewrite_file_at(directory.get(), "file", "new", tree / "file", read);
  };
  {
    const cdi::Descriptor other{::open((tree / "file").c_str(), O_RDONLY | O_CLOEXEC)};
    REQUIRE(::flock(other.get(), LOCK_EX) == 0);
    const auto done = rewrite();
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::conflict);
    CHECK(get_file(tree / "file") == "old");
  }
  CHECK(rewrite());
  CHECK(get_file(tree / "file") == "new");
}

TEST_CASE("Of several rewriters at once, none loses the change of another") {
  constexpr std::size_t changes = 50;
  const TempTree tree;
  tree.put("file", "");
  const auto change = [&] {
    const auto directory = open_dir(tree.path());
    for (std::size_t done = 0; done < changes;) {
      struct stat info = {};
      const cdi::Descriptor file{::open((tree / "file").c_str(), O_RDONLY | O_CLOEXEC)};
      if (!file || ::fstat(file.get(), &info) != 0) continue;
      std::string text(static_cast<std::size_t>(info.st_size), ' ');
      if (::read(file.get(), text.data(), text.size()) != info.st_size) continue;
      if (cdi::rewrite_file_at(directory.get(), "file", text + "x", "file", cdi::signature_of(info),
                               /*sync=*/false)) {
        ++done;
      }
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < 3; ++i) all.emplace_back(change);
  for (auto& one : all) one.join();
  CHECK(get_file(tree / "file").size() == 3 * changes);
}

TEST_CASE("File and directory are synced, unless the caller does not need it") {
  const TempTree tree;
  const auto directory = open_dir(tree.path());
  const auto count_of = [](const auto& write) {
    syncs = 0;
    CHECK(write());
    return syncs;
  };
  CHECK(count_of([&] { return cdi::replace_file(tree / "file", "one"); }) == 2);
  CHECK(count_of([&] { return cdi::replace_file(tree / "file", "two", {.sync = false}); }) == 0);
  const auto rewrite = [&](bool sync) {
    const auto read = signature_of(tree / "file");
    return cdi::rewrite_file_at(directory.get(), "file", "new", tree / "file", read, sync);
  };
  CHECK(count_of([&] { return rewrite(true); }) == 2);
  CHECK(count_of([&] { return rewrite(false); }) == 0);
  CHECK(get_file(tree / "file") == "new");
}
