// Tests for include/cdi/claims/claim_directory.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/claims/claim_directory.hpp>

#include "../../support/temp_tree.hpp"

using cdi::MissingDirectory;

TEST_CASE("A missing directory stays or is made with its parents") {
  const TempTree tree;
  const std::string path = tree / "a/b";
  const auto missing = cdi::open_claim_directory(path, MissingDirectory::stays);
  REQUIRE(missing);
  CHECK(missing->number() < 0);
  CHECK_FALSE(cdi::open_claim_directory(path, MissingDirectory::stays)->descriptor);
  const auto made = cdi::open_claim_directory(path, MissingDirectory::made);
  REQUIRE(made);
  CHECK(made->number() >= 0);
  CHECK(mode_of(path) == 0755);
  CHECK(made->path_of("x.json") == path + "/x.json");
  CHECK(cdi::open_claim_directory(path, MissingDirectory::stays)->number() >= 0);
}

TEST_CASE("What is not a directory is an error") {
  const TempTree tree;
  put_file(tree / "file", "");
  using std::string_literals::operator""s;
  for (const std::string& path : {tree / "file", ""s, "/tmp\0x"s}) {
    CAPTURE(path);
    CHECK_FALSE(cdi::open_claim_directory(path, MissingDirectory::stays));
    CHECK_FALSE(cdi::open_claim_directory(path, MissingDirectory::made));
  }
}

TEST_CASE("A path from the root stays as it is, and an empty one names no directory") {
  CHECK(cdi::detail::path_from_root("/run/cdi") == "/run/cdi");
  CHECK(cdi::detail::path_from_root("").empty());
  CHECK(cdi::detail::path_from_root("cdi").ends_with("/cdi"));
  CHECK(cdi::detail::path_from_root("cdi").starts_with('/'));
}
