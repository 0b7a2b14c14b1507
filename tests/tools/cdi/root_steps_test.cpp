// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/rootfs/root_steps.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../tools/cdi/rootfs/rooted_files.hpp"
#include "../../support/temp_tree.hpp"

namespace {

using Kind = RootStep::Kind;
using Lookup = RootedFiles::Lookup;

constexpr Lookup both[] = {Lookup::by_kernel, Lookup::by_walk};

void link(const std::string& target, const std::string& path) {
  REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
}

std::string target_of(const std::string& path) {
  return tools::read_link(AT_FDCWD, path).value_or("not a link");
}

bool exists(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// A root, and a directory beside it that nothing may change.
struct Place {
  TempTree tree{};
  std::string root = tree / "root";
  std::string outside = tree / "outside";

  Place() {
    tree.make_dir("root");
    tree.make_dir("outside");
    tree.put("outside/file", "old");
  }

  RootedFiles open(Lookup lookup) const {
    auto files = RootedFiles::open(root, lookup);
    REQUIRE(files);
    return *std::move(files);
  }

  /// Checks a step, carries it out, and checks that a repeat would change nothing.
  void change(Lookup lookup, const RootStep& step) const {
    const auto files = open(lookup);
    const auto needed = is_needed(files, step);
    REQUIRE_MESSAGE(needed, (needed ? "" : needed.error().message));
    CHECK(*needed);
    const auto done = carry_out(files, step);
    REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
    const auto again = is_needed(files, step);
    REQUIRE(again);
    CHECK_FALSE(*again);
    check_outside();
  }

  /// Why a step is refused before anything is changed.
  std::string refusal(Lookup lookup, const RootStep& step) const {
    const auto needed = is_needed(open(lookup), step);
    REQUIRE_FALSE(needed);
    check_outside();
    return needed.error().message;
  }

  void check_outside() const {
    CHECK(get_file(outside + "/file") == "old");
    CHECK(mode_of(outside) == 0755);
    CHECK_FALSE(exists(outside + "/x"));
  }
};

const RootStep link_step{Kind::link, "/usr/lib/x", "y.so"};

}  // namespace

TEST_CASE("A link is created with its directories, and replaces a file or another link") {
  for (const auto lookup : both) {
    const Place place;
    place.change(lookup, link_step);
    CHECK(target_of(place.root + "/usr/lib/x") == "y.so");
    CHECK(mode_of(place.root + "/usr") == 0755);
    place.change(lookup, {Kind::link, "/usr/lib/x", "../z"});
    CHECK(target_of(place.root + "/usr/lib/x") == "../z");
    place.tree.put("root/usr/lib/f", "text");
    place.change(lookup, {Kind::link, "/usr/lib/f", "y.so"});
    CHECK(target_of(place.root + "/usr/lib/f") == "y.so");
    place.change(lookup, {Kind::link, "/x", "y.so"});
  }
}

TEST_CASE("A link to the outside in the place of a link or file is replaced, not followed") {
  for (const auto lookup : both) {
    const Place place;
    link(place.outside + "/file", place.root + "/l");
    place.change(lookup, {Kind::link, "/l", "y"});
    link(place.outside + "/file", place.root + "/f");
    place.change(lookup, {Kind::file, "/f", "new"});
    CHECK(get_file(place.root + "/f") == "new");
    CHECK(mode_of(place.root + "/f") == 0644);
    link(place.outside + "/file", place.root + "/r");
    place.change(lookup, {Kind::removal, "/r"});
    CHECK_FALSE(exists(place.root + "/r"));
  }
}

TEST_CASE("Links on the way stay inside of the root") {
  for (const auto lookup : both) {
    const Place place;
    const std::string up = "../../../../../../../../../../../..";
    link(place.outside, place.root + "/absolute");
    link(up + place.outside, place.root + "/up");
    link("absolute", place.root + "/chain");
    link("/sub", place.root + "/dangling");
    for (const auto* name : {"absolute", "up", "chain"}) {
      CAPTURE(name);
      place.change(lookup, {Kind::link, std::string{"/"} + name + "/x-" + name, "y"});
      CHECK(target_of(place.root + place.outside + "/x-" + name) == "y");
    }
    place.change(lookup, {Kind::file, "/dangling/f", "t", 0444});
    CHECK(get_file(place.root + "/sub/f") == "t");
    CHECK(mode_of(place.root + "/sub/f") == 0444);
  }
}

TEST_CASE("Modes are set where links lead to inside of the root") {
  for (const auto lookup : both) {
    const Place place;
    place.tree.put("root/f", "text");
    REQUIRE(::chmod((place.root + "/f").c_str(), 0600) == 0);
    link("/f", place.root + "/l");
    link(place.outside, place.root + "/o");
    place.change(lookup, {Kind::mode, "/l", {}, 0755});
    CHECK(mode_of(place.root + "/f") == 0755);
    for (const auto* path : {"/o", "/missing", "/missing/deeper"}) {
      const auto needed = is_needed(place.open(lookup), {Kind::mode, path, {}, 0700});
      REQUIRE(needed);
      CHECK_FALSE(*needed);
    }
    REQUIRE(::mkfifo((place.root + "/p").c_str(), 0600) == 0);
    CHECK(place.refusal(lookup, {Kind::mode, "/p", {}, 0755}) ==
          "mode 0755 /p: it is neither a file nor a directory");
    place.check_outside();
  }
}

TEST_CASE("A set-user-ID bit is not set in a file with several names") {
  for (const auto lookup : both) {
    const Place place;
    REQUIRE(::link((place.outside + "/file").c_str(), (place.root + "/f").c_str()) == 0);
    const auto files = place.open(lookup);
    for (const mode_t mode : {04755U, 02755U, 06755U}) {
      const RootStep step{Kind::mode, "/f", {}, mode};
      CHECK(place.refusal(lookup, step).ends_with("some may be outside the root"));
      CHECK_FALSE(carry_out(files, step));  // a file that was linked after the check
    }
    CHECK(mode_of(place.outside + "/file") == 0644);
    place.change(lookup, {Kind::mode, "/f", {}, 01755});
    place.tree.put("root/own", "text");
    place.change(lookup, {Kind::mode, "/own", {}, 04755});
    place.tree.make_dir("root/dir");
    place.change(lookup, {Kind::mode, "/dir", {}, 02755});
  }
}

TEST_CASE("The type of a file is checked again when its mode is set") {
  for (const auto lookup : both) {
    const Place place;
    REQUIRE(::mkfifo((place.root + "/p").c_str(), 0600) == 0);
    const auto done = carry_out(place.open(lookup), {Kind::mode, "/p", {}, 0644});
    REQUIRE_FALSE(done);
    CHECK(done.error().message == "mode 0644 /p: it is neither a file nor a directory");
    CHECK(mode_of(place.root + "/p") == 0600);
  }
}

TEST_CASE("What killed runs left is removed, and nothing else") {
  const Place place;
  const auto files = place.open(Lookup::by_kernel);
  const std::string long_name(230, 'n');
  const auto left = [&](const std::string& name, std::uint64_t number) {
    return place.root + "/" + cdi::detail::temporary_name(name, number);
  };
  link("x", left("l", 1));
  link("x", left("other", 1));
  link("x", place.root + "/.l.cdi-tmp");
  link("x", left(long_name, 1));
  place.tree.put(("root/" + cdi::detail::temporary_name("l", 2)).c_str(), "half");
  const auto used = cdi::detail::temporary_name("f", 3);
  place.tree.put(("root/" + used).c_str(), "half");
  const cdi::Descriptor writer{::open((place.root + "/" + used).c_str(), O_RDONLY | O_CLOEXEC)};
  REQUIRE(cdi::detail::try_lock(writer.get()));
  remove_leftovers(files, {{Kind::link, "/l", "y"},
                           {Kind::file, "/f", "y"},
                           {Kind::link, "/" + long_name, "y"},
                           {Kind::link, "/missing/l", "y"},
                           {Kind::mode, "/other", {}, 0700}});
  CHECK_FALSE(exists(left("l", 1)));
  CHECK_FALSE(exists(left("l", 2)));
  CHECK_FALSE(exists(left(long_name, 1)));
  CHECK(exists(left("other", 1)));
  CHECK(exists(left("f", 3)));
  CHECK(exists(place.root + "/.l.cdi-tmp"));
}

TEST_CASE("A directory with the name of an earlier temporary link does not matter") {
  const Place place;
  const auto number = static_cast<std::uint64_t>(::getpid());
  place.tree.make_dir(("root/" + cdi::detail::temporary_name("l", number)).c_str());
  link("x", place.root + "/l");
  place.change(Lookup::by_kernel, {Kind::link, "/l", "y"});
}

TEST_CASE("A link is made again if another run takes it for a leftover") {
  const Place place;
  link("x", place.root + "/l");
  const auto files = place.open(Lookup::by_kernel);
  // Few passes for each link: one that always wins would use up all tries.
  constexpr int links = 2000;
  std::atomic<int> number = 0;
  std::thread other{[&] {
    for (int seen = 0; seen < links; seen = number) {
      for (int pass = 0; pass < 3; ++pass) remove_leftovers(files, {{Kind::link, "/l", "y"}});
      while (number == seen) continue;
    }
  }};
  for (int i = 0; i < links; ++i) {
    const auto done = carry_out(files, {Kind::link, "/l", std::to_string(i)});
    CHECK_MESSAGE(done, (done ? "" : done.error().message));
    number = i + 1;
  }
  other.join();
  CHECK(target_of(place.root + "/l") == "1999");
}

TEST_CASE("The root is opened once: its path may lead elsewhere a second time") {
  const Place place;
  const auto open_files = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      static_cast<void>(entry);
      ++count;
    }
    return count;
  };
  const auto before = open_files();
  const auto files = place.open(Lookup::by_kernel);
  CHECK(open_files() == before + 1);
  CHECK(files.find_folder("/"));
}

TEST_CASE("What cannot be done is refused before anything is changed") {
  for (const auto lookup : both) {
    const Place place;
    place.tree.make_dir("root/dir");
    place.tree.put("root/file", "text");
    link("loop", place.root + "/loop");
    link("b", place.root + "/a");
    link("a", place.root + "/b");
    CHECK(place.refusal(lookup, {Kind::link, "/dir", "y"}) ==
          "link /dir -> y: a directory is in its place");
    CHECK(place.refusal(lookup, {Kind::file, "/dir", "y"}) ==
          "file /dir, 1 bytes, mode 0644: a directory is in its place");
    for (const auto* path : {"/file/x", "/loop/x", "/a/x", "/file/x/y/z"}) {
      CAPTURE(path);
      const auto reason = place.refusal(lookup, {Kind::link, path, "y"});
      CAPTURE(reason);
      const bool loops = path[1] != 'f';
      CHECK(reason.find(loops ? "Too many levels" : "Not a directory") != std::string::npos);
    }
    const std::string loops = "Too many levels";
    CHECK(place.refusal(lookup, {Kind::mode, "/loop", {}, 0755}).find(loops) != loops.npos);
    CHECK(place.refusal(lookup, {Kind::removal, "/loop/x"}).find(loops) != loops.npos);
    const std::string long_name = "/" + std::string(256, 'n');
    CHECK(place.refusal(lookup, {Kind::link, long_name, "y"}).ends_with("File name too long"));
    CHECK(get_file(place.root + "/file") == "text");
    const auto nothing = is_needed(place.open(lookup), {Kind::removal, "/missing/x"});
    REQUIRE(nothing);
    CHECK_FALSE(*nothing);
  }
}

TEST_CASE("What only fails when it is carried out is an error") {
  for (const auto lookup : both) {
    const Place place;
    place.tree.make_dir("root/dir");
    const auto files = place.open(lookup);
    CHECK(carry_out(files, {Kind::removal, "/gone"}));
    CHECK(carry_out(files, {Kind::removal, "/dir"}).error().system == EISDIR);
    CHECK(carry_out(files, {Kind::link, "/" + std::string(256, 'n'), "y"}).error().system ==
          ENAMETOOLONG);
    CHECK(carry_out(files, {Kind::mode, "/gone", {}, 0700}).error().system == ENOENT);
    place.check_outside();
  }
}

TEST_CASE("A directory that may not be written is refused, unless nothing has to change") {
  const Place place;
  place.change(Lookup::by_kernel, link_step);
  REQUIRE(::chmod((place.root + "/usr/lib").c_str(), 0555) == 0);
  REQUIRE(::chmod(place.tree.path().c_str(), 0755) == 0);
  const UnprivilegedUser user;
  if (!user) return;
  for (const auto lookup : both) {
    const auto files = place.open(lookup);
    const auto done = is_needed(files, link_step);
    REQUIRE(done);
    CHECK_FALSE(*done);
    for (const auto* path : {"/usr/lib/new", "/usr/lib/new/deeper"}) {
      const auto needed = is_needed(files, {Kind::link, path, "y"});
      REQUIRE_FALSE(needed);
      CHECK(needed.error().system == EACCES);
    }
  }
}

TEST_CASE("A directory that is swapped for a link after it was opened does not matter") {
  const Place place;
  place.tree.make_dir("root/dir");
  for (const auto lookup : both) {
    const auto files = place.open(lookup);
    const auto folder = files.find_folder("/dir");
    REQUIRE(folder);
    REQUIRE(::rename((place.root + "/dir").c_str(), (place.root + "/moved").c_str()) == 0);
    link(place.outside, place.root + "/dir");
    REQUIRE(::symlinkat("y", folder->get(), "x") == 0);
    CHECK(target_of(place.root + "/moved/x") == "y");
    place.check_outside();
    REQUIRE(::unlink((place.root + "/moved/x").c_str()) == 0);
    REQUIRE(::unlink((place.root + "/dir").c_str()) == 0);
    REQUIRE(::rename((place.root + "/moved").c_str(), (place.root + "/dir").c_str()) == 0);
  }
}

TEST_CASE("Another process that swaps a directory and a link gains nothing") {
  const Place place;
  place.tree.make_dir("root/dir");
  link(place.outside, place.root + "/evil");
  const std::string dir = place.root + "/dir";
  const std::string evil = place.root + "/evil";
  std::atomic<bool> stop = false;
  std::thread swaps{[&] {
    while (!stop) {
      ::renameat2(AT_FDCWD, dir.c_str(), AT_FDCWD, evil.c_str(), RENAME_EXCHANGE);
    }
  }};
  for (const auto lookup : both) {
    const auto files = place.open(lookup);
    for (int i = 0; i < 300; ++i) {
      const auto target = std::to_string(i);
      // Each may fail while the directory is being swapped.
      static_cast<void>(carry_out(files, {Kind::link, "/dir/x", target}));
      static_cast<void>(carry_out(files, {Kind::file, "/dir/file", target}));
      static_cast<void>(carry_out(files, {Kind::mode, "/dir", {}, 0700}));
    }
  }
  stop = true;
  swaps.join();
  place.check_outside();
}

TEST_CASE("What cannot be found in a root is an error, except what is missing") {
  const Place place;
  CHECK(RootedFiles::open(place.root + "/none").error().system == ENOENT);
  link("loop", place.root + "/loop");
  for (const auto lookup : both) {
    const auto files = place.open(lookup);
    CHECK(files.read("/loop").error().system == ELOOP);
    CHECK(files.read_link("/loop/x").error().system == ELOOP);
    for (const auto* path : {"/none", "/none/x"}) CHECK_FALSE(*files.read_link(path));
    std::string deep;
    for (std::size_t i = 0; i < RootedFiles::max_folders; ++i) deep += "/d";
    CHECK(files.find_existing(deep.substr(2)));
    const auto too_deep = files.find_existing(deep + "/d/d");
    REQUIRE_FALSE(too_deep);
    CHECK(too_deep.error().message == RootedFiles::too_deep().message);
  }
}

TEST_CASE("Only regular files are read, with links inside of the root") {
  for (const auto lookup : both) {
    const Place place;
    place.tree.put("root/f", "text");
    link("/f", place.root + "/l");
    link(place.outside + "/file", place.root + "/o");
    REQUIRE(::mkfifo((place.root + "/p").c_str(), 0600) == 0);
    const auto files = place.open(lookup);
    const auto linked = files.read("/l");
    REQUIRE(linked);
    CHECK(*linked == "text");
    for (const auto* path : {"/o", "/p", "/", "/missing"}) {
      CAPTURE(path);
      const auto text = files.read(path);
      REQUIRE(text);
      CHECK_FALSE(*text);
    }
    CHECK_FALSE(files.read("/f", 2));
  }
}
