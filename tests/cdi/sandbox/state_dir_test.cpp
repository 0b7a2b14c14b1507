// Tests for include/cdi/sandbox/state_dir.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/sandbox/state_dir.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using cdi::Descriptor;
using cdi::detail::generated_name;
using cdi::detail::StateDir;
using std::chrono::hours;
using std::chrono::seconds;

StateDir state_of(const std::string& path) {
  auto opened = StateDir::open(path);
  REQUIRE_MESSAGE(opened, (opened ? "" : to_string(opened.error())));
  return *std::move(opened);
}

/// The path of a file that must be made, or be there.
std::string made(const StateDir& state, std::string_view name, std::string_view text) {
  auto path = state.file(name, text);
  REQUIRE_MESSAGE(path, (path ? "" : to_string(path.error())));
  return *path;
}

/// Makes a file as old as if it was last used then.
void age(const std::string& path, hours old) {
  timespec times[2] = {};
  times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - seconds{old}.count();
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

std::size_t removed_after(const TempTree& tree, hours unused) {
  const auto removed = cdi::remove_generated(tree.path(), unused);
  REQUIRE_MESSAGE(removed, (removed ? "" : to_string(removed.error())));
  return removed->size();
}

struct stat info_of(const std::string& path) {
  struct stat info = {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info;
}

}  // namespace

TEST_CASE("A generated file is written once, for all users to read") {
  const TempTree tree;
  const auto mask = ::umask(0077);
  const auto path = made(state_of(tree.path()), "ld.so.cache", "text\n");
  ::umask(mask);
  CHECK(path == tree / generated_name("ld.so.cache", "text\n", 0));
  CHECK(path.ends_with("-ld.so.cache"));
  CHECK(get_file(path) == "text\n");
  CHECK(mode_of(path) == 0444);
  const auto first = info_of(path);
  CHECK(made(state_of(tree.path()), "ld.so.cache", "text\n") == path);
  CHECK(info_of(path).st_ino == first.st_ino);
  CHECK(tree.names().size() == 1);
}

TEST_CASE("The name of a generated file tells its text and its purpose") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto path = made(state, "a", "text");
  CHECK(made(state, "b", "text") != path);
  CHECK(made(state, "a", "other") != path);
  CHECK(made(state, "a", "") != path);
  CHECK(tree.names().size() == 4);
  CHECK(get_file(path) == "text");
}

TEST_CASE("Files with equal hashes and different texts are different files") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  for (const std::string_view other : {"other", "texts", "tex", ""}) {
    CAPTURE(other);
    tree.put(generated_name("f", "text", 0), other);
    CHECK(made(state, "f", "text") == tree / generated_name("f", "text", 1));
    CHECK(get_file(tree / generated_name("f", "text", 0)) == other);
    CHECK(get_file(tree / generated_name("f", "text", 1)) == "text");
  }
  for (unsigned turn = 0; turn < 16; ++turn) tree.put(generated_name("f", "many", turn), "taken");
  const auto full = state.file("f", "many");
  REQUIRE_FALSE(full);
  CHECK(full.error().code == cdi::Errc::conflict);
  CHECK(full.error().position.file == tree.path());
}

TEST_CASE("A link, directory, FIFO or foreign file in the place of a generated file is not used") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto first = generated_name("f", "text", 0);
  const auto second = tree / generated_name("f", "text", 1);
  tree.put("target", "text");
  tree.link("target", first);
  CHECK(made(state, "f", "text") == second);
  CHECK(get_file(tree / "target") == "text");
  REQUIRE(::unlink((tree / first).c_str()) == 0);
  tree.make_dir(first);
  CHECK(made(state, "f", "text") == second);
  REQUIRE(::rmdir((tree / first).c_str()) == 0);
  REQUIRE(::mkfifo((tree / first).c_str(), 0600) == 0);
  CHECK(made(state, "f", "text") == second);
  REQUIRE(::mkfifo((tree / generated_name("f", "", 0)).c_str(), 0600) == 0);
  CHECK(made(state, "f", "") == tree / generated_name("f", "", 1));
}

TEST_CASE("A file that other users may write is not used, even with the right text") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto first = generated_name("f", "text", 0);
  for (const mode_t mode : {0646U, 0664U}) {
    CAPTURE(mode);
    tree.put(first, "text");
    REQUIRE(::chmod((tree / first).c_str(), mode) == 0);
    CHECK(made(state, "f", "text") == tree / generated_name("f", "text", 1));
  }
  REQUIRE(::chmod((tree / first).c_str(), 0444) == 0);
  CHECK(made(state, "f", "text") == tree / first);
  if (::geteuid() != 0) return;
  REQUIRE(::chown((tree / first).c_str(), 65534, 65534) == 0);
  CHECK(made(state, "f", "text") == tree / generated_name("f", "text", 1));
}

TEST_CASE("A directory in which other users may write is refused") {
  const TempTree tree;
  const auto path = tree.make_dir("state");
  for (const mode_t mode : {0777U, 0775U, 0757U, 01777U}) {
    CAPTURE(mode);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    const auto opened = StateDir::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == cdi::Errc::denied);
    CHECK(opened.error().position.file == path);
  }
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  CHECK(StateDir::open(path));
  if (::geteuid() != 0) return;
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(StateDir::open(path));
}

TEST_CASE("A path through a link or a directory of another user is refused") {
  const TempTree tree;
  REQUIRE(::chmod(tree.path().c_str(), 0755) == 0);
  const auto state = tree.make_dir("state");
  const auto other = tree.make_dir("other");
  tree.link("state", "own");
  CHECK(made(state_of(tree / "own"), "f", "text") == state + "/" + generated_name("f", "text", 0));
  tree.link("../state", "other/link");
  CHECK(StateDir::open(other + "/link"));
  if (::geteuid() != 0) return;
  tree.link("state", "foreign");
  REQUIRE(::lchown((tree / "foreign").c_str(), 65534, 65534) == 0);
  CHECK(StateDir::open(tree / "foreign").error().code == cdi::Errc::denied);
  REQUIRE(::chown(other.c_str(), 65534, 65534) == 0);
  CHECK(StateDir::open(other + "/link").error().code == cdi::Errc::denied);
  const auto above = StateDir::open(other + "/../state").error();
  CHECK(above.code == cdi::Errc::denied);
  CHECK(above.message.find(other) != std::string::npos);
}

TEST_CASE("A directory that is missing or no directory cannot be opened") {
  const TempTree tree;
  tree.put("file", "");
  REQUIRE(::mkfifo((tree / "fifo").c_str(), 0600) == 0);
  for (const std::string& path : {tree / "missing", tree / "file", tree / "fifo", std::string{},
                                  tree.path() + std::string{"\0", 1}}) {
    CAPTURE(path);
    const auto opened = StateDir::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == cdi::Errc::system);
    CHECK(cdi::remove_generated(path, hours{0}).error().code == cdi::Errc::system);
  }
}

TEST_CASE("The path of a generated file is absolute and has no double slash") {
  const TempTree tree;
  const auto name = generated_name("f", "text", 0);
  CHECK(made(state_of(tree.path() + "//"), "f", "text") == tree / name);
  const auto before = ::get_current_dir_name();
  REQUIRE(::chdir(tree.path().c_str()) == 0);
  const auto state = state_of(".");
  CHECK(made(state, "f", "text") == tree / name);
  CHECK(::chdir(before) == 0);
  ::free(before);
  CHECK(made(state, "f", "other") == tree / generated_name("f", "other", 0));
}

TEST_CASE("A directory without space or permission is an error") {
  const TempTree tree;
  const auto path = tree.make_dir("state");
  REQUIRE(::chmod(tree.path().c_str(), 0755) == 0);
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const auto state = StateDir::open(path);
  if (!state) return;  // the directory of a user who is not root
  const auto file = state->file("f", "text");
  REQUIRE_FALSE(file);
  CHECK(file.error().code == cdi::Errc::system);
  CHECK(file.error().position.file == path + "/" + generated_name("f", "text", 0));
  CHECK(tree.names() == std::set<std::string>{"state"});
}

TEST_CASE("Only unused generated files are removed") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto old = made(state, "f", "old");
  const auto used = made(state, "f", "used");
  const auto fresh = made(state, "f", "fresh");
  for (const auto& path : {old, used}) age(path, hours{49});
  CHECK(removed_after(tree, hours{50}) == 0);
  CHECK(made(state, "f", "used") == used);
  CHECK(removed_after(tree, hours{48}) == 1);
  CHECK(tree.names().size() == 2);
  CHECK(get_file(used) == "used");
  CHECK(get_file(fresh) == "fresh");
  CHECK(removed_after(tree, hours{0}) == 2);
  CHECK(tree.names().empty());
  CHECK(made(state, "f", "old") == old);
}

TEST_CASE("A file that comes into use while others are removed stays") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto path = made(state, "f", "text");
  age(path, hours{9});
  Descriptor user{::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY)};
  REQUIRE(::flock(user.get(), LOCK_SH) == 0);
  std::size_t removed = 1;
  std::thread remover{[&] {
    removed = cdi::remove_generated(tree.path(), hours{1})->size();
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  CHECK(made(state, "f", "text") == path);  // users do not wait for each other
  user = Descriptor{-1};
  remover.join();
  CHECK(removed == 0);
  CHECK(get_file(path) == "text");
}

TEST_CASE(
    "Nothing is removed while another program locks the directory; files are taken into use") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto path = made(state, "f", "text");
  age(path, hours{9});
  const Descriptor other{::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY)};
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  const auto removed = cdi::remove_generated(tree.path(), hours{1});
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code == cdi::Errc::conflict);
  CHECK(made(state, "g", "text") != path);
  CHECK(get_file(path) == "text");
}

TEST_CASE("A file is taken into use only when no file is being removed") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto path = made(state, "f", "text");
  Descriptor remover{::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY)};
  REQUIRE(::flock(remover.get(), LOCK_EX) == 0);
  std::string found;
  std::thread user{[&] {
    const auto taken = state.file("f", "text");
    if (taken) found = *taken;
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  REQUIRE(::unlink(path.c_str()) == 0);
  remover = Descriptor{-1};
  user.join();
  CHECK(found == path);
  CHECK(get_file(path) == "text");
}

TEST_CASE("Files with other names, and what is not a regular file, stay") {
  const TempTree tree;
  const std::string name = generated_name("f", "text", 0);
  const auto other_case = "cdi-" + std::string(16, 'A') + "-f";
  for (const std::string& other :
       {std::string{"cdi-"}, std::string{"spec.json"}, name.substr(0, 20), name.substr(0, 21),
        "x" + name, "." + name, other_case, "cdi-" + std::string(15, 'a') + "-f"}) {
    tree.put(other, "text");
    age(tree / other, hours{9});
  }
  tree.link("spec.json", generated_name("link", "", 0));
  tree.make_dir(generated_name("folder", "", 0));
  REQUIRE(::mkfifo((tree / generated_name("fifo", "", 0)).c_str(), 0600) == 0);
  const auto names = tree.names();
  for (const auto& one : names) age(tree / one, hours{9});
  CHECK(removed_after(tree, hours{1}) == 0);
  CHECK(tree.names() == names);
}

TEST_CASE("What a killed writer leaves is not a generated file, and is removed once it is unused") {
  const TempTree tree;
  const auto state = state_of(tree.path());
  const auto name = generated_name("f", "text", 0);
  const auto left = cdi::detail::temporary_name(name, 7);
  tree.put(left, "te");
  CHECK(made(state, "f", "text") == tree / name);
  CHECK(get_file(tree / name) == "text");
  const auto foreign = cdi::detail::temporary_name("spec.json", 7);
  tree.put(foreign, "te");
  for (const auto& one : {left, foreign}) age(tree / one, hours{9});
  CHECK(removed_after(tree, hours{10}) == 0);
  CHECK(removed_after(tree, hours{8}) == 1);
  CHECK(tree.names() == std::set<std::string>{name, foreign});
}

TEST_CASE("The temporary file of a living writer stays") {
  const TempTree tree;
  const cdi::Descriptor directory{::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY)};
  const cdi::detail::Temporary writer{directory.get(), generated_name("f", "text", 0)};
  age(tree / writer.name(), hours{9});
  CHECK(removed_after(tree, hours{1}) == 0);
  CHECK(tree.names() == std::set<std::string>{writer.name()});
}
