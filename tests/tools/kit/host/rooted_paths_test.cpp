// Paths below a root, with links.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/rooted_paths.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

namespace {

namespace fs = std::filesystem;
using tools::RootedPaths;
using Last = RootedPaths::Last;
using IfMissing = RootedPaths::IfMissing;

/// A tree with a directory beside it to which its links lead.
struct Tree {
  TempTree place{};

  Tree() {
    place.make_dir("outside");
    place.make_dir("root");
    place.make_dir("root/run");
    place.make_dir("root/var");
    place.link("/run", "root/var/run");
    place.link((place / "outside").c_str(), "root/var/out");
    place.link("../../outside", "root/var/up");
    place.link("run", "root/var/loop");
  }

  /// The path found below the root; the error number when there is none.
  std::string find(std::string_view path, IfMissing missing, Last last = Last::follow) const {
    const auto paths = RootedPaths::open(place / "root");
    REQUIRE(paths);
    const auto found = paths->find(path, last, missing);
    return found ? found->path() : std::to_string(found.error().system);
  }
};

TEST_CASE_FIXTURE(Tree, "links are followed as the host of the root would") {
  CHECK(find("/var/run", IfMissing::fail) == "/run");
  CHECK(find("/var/loop", IfMissing::fail) == "/run");
  CHECK(find("/var/run", IfMissing::fail, Last::keep) == "/var/run");
  CHECK(find("../../var/../run/.", IfMissing::fail) == "/run");
  for (const auto* path : {"/none", "/var/out", "/var/up", "/var/run/cdi"}) {
    CAPTURE(path);
    CHECK(find(path, IfMissing::fail) == std::to_string(ENOENT));
  }
  place.link("circle", "root/circle");
  CHECK(find("/circle", IfMissing::fail) == std::to_string(ELOOP));
  place.put("root/file", "");
  CHECK(find("/file/x", IfMissing::make) == std::to_string(ENOTDIR));
}

TEST_CASE_FIXTURE(Tree, "a path may be followed as far as it exists") {
  CHECK(find("/var/run/cdi/x", IfMissing::report) == "/run/cdi/x");
  CHECK(find("/var/up/cdi", IfMissing::report) == "/outside/cdi");
  CHECK(find("/var/out/cdi", IfMissing::report) == (place / "outside/cdi"));
  CHECK(find("/var/run", IfMissing::report) == "/run");
  CHECK(fs::is_empty(place / "root/run"));
}

TEST_CASE_FIXTURE(Tree, "missing directories are made, and none outside") {
  const auto mask = ::umask(077);
  CHECK(find("/var/run/cdi/x", IfMissing::make) == "/run/cdi/x");
  CHECK(find("/var/up/cdi", IfMissing::make) == "/outside/cdi");
  CHECK(find("/var/out/cdi", IfMissing::make) == (place / "outside/cdi"));
  ::umask(mask);
  CHECK(fs::is_empty(place / "outside"));
  for (const auto* path : {"root/run/cdi", "root/run/cdi/x", "root/outside/cdi"}) {
    CHECK(mode_of(place / path) == 0755);
  }
  CHECK(fs::is_directory((place / "root") + (place / "outside/cdi")));
}

TEST_CASE_FIXTURE(Tree, "a path with NUL, or with a slash at its end, is looked up part by part") {
  const auto paths = RootedPaths::open(place / "root");
  REQUIRE(paths);
  const auto run = paths->status("/var/run/", Last::follow);
  REQUIRE(run);
  CHECK(S_ISDIR(run->st_mode));
  const auto found = paths->status(std::string{"/run\0/x", 7}, Last::follow);
  CHECK_FALSE(found);
  CHECK_FALSE(paths->open_file("/none/", O_RDONLY));
  CHECK(errno == ENOENT);
}

TEST_CASE_FIXTURE(Tree, "a directory whose parent cannot be read is made") {
  REQUIRE(::chmod((place / "root/run").c_str(), 0333) == 0);
  CHECK(find("/run/made", IfMissing::make) == "/run/made");
  CHECK(mode_of(place / "root/run/made") == 0755);
}

TEST_CASE("a root that is not there") {
  const auto paths = RootedPaths::open("/none/at all");
  REQUIRE_FALSE(paths);
  CHECK(paths.error().system == ENOENT);
}

}  // namespace
