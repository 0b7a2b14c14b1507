// The path of a program in PATH.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/program_path.hpp"

#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

namespace {

/// Directories in PATH for the lifetime of the object.
struct Path : TempTree {
  Path() {
    make_dir("a");
    make_dir("b");
    ::setenv("PATH", ((*this / "a") + "::" + (*this / "b")).c_str(), 1);
  }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path() { ::setenv("PATH", before.c_str(), 1); }

  void put_program(const std::string& name) const {
    put(name, "#!/bin/sh\n");
    REQUIRE(::chmod((*this / name).c_str(), 0755) == 0);
  }

  const std::string before = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
};

}  // namespace

TEST_CASE_FIXTURE(Path, "The first directory with an executable file of the name counts") {
  CHECK(tools::path_of_program("run").empty());
  put("a/run", "is not executable");
  put_program("b/run");
  CHECK(tools::path_of_program("run") == *this / "b/run");
  REQUIRE(::chmod((*this / "a/run").c_str(), 0755) == 0);
  CHECK(tools::path_of_program("run") == *this / "a/run");
}

TEST_CASE_FIXTURE(Path, "A directory is not a program") {
  make_dir("a/run");
  put_program("b/run");
  CHECK(tools::path_of_program("run") == *this / "b/run");
}

TEST_CASE_FIXTURE(Path, "This program is not found, under any name") {
  link("/proc/self/exe", "a/run");
  CHECK(tools::path_of_program("run").empty());
  CHECK(tools::path_of_program(*this / "a/run").empty());
  put_program("b/run");
  CHECK(tools::path_of_program("run") == *this / "b/run");
}

TEST_CASE_FIXTURE(Path, "A name with a slash is a path, whatever PATH says") {
  put_program("a/run");
  CHECK(tools::path_of_program("./run") == "./run");
  CHECK(tools::path_of_program("/none/run") == "/none/run");
}

TEST_CASE_FIXTURE(Path, "Without PATH, the usual directories are searched") {
  ::unsetenv("PATH");
  const auto shell = tools::path_of_program("sh");
  CHECK(shell.ends_with("/bin/sh"));
}
