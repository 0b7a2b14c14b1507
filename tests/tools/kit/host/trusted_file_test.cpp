// Files to which no other user may write.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/trusted_file.hpp"

#include <cerrno>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

namespace {

std::string advice_for(const std::string& path) {
  const auto text = tools::read_trusted_file(path);
  if (text) return *text;
  CHECK(text.error().code == cdi::Errc::denied);
  return text.error().advice;
}

}  // namespace

TEST_CASE("A file that only its owner may write is read") {
  const TempTree tree;
  tree.put("file", "text");
  for (const mode_t mode : {0600U, 0644U, 0444U}) {
    REQUIRE_EQ(::chmod((tree / "file").c_str(), mode), 0);
    CHECK_EQ(advice_for(tree / "file"), "text");
  }
  const auto limited = tools::read_trusted_file(tree / "file", 3);
  REQUIRE_FALSE(limited);
  CHECK(limited.error().code == cdi::Errc::limit);
}

TEST_CASE("A file that others may write is refused, with commands that make it good") {
  const TempTree tree;
  tree.put("a file", "text");
  const auto path = tree / "a file";
  const bool is_root = ::geteuid() == 0;
  for (const mode_t mode : {0666U, 0646U, is_root ? 0664U : 0602U}) {
    REQUIRE_EQ(::chmod(path.c_str(), mode), 0);
    CHECK_EQ(advice_for(path), "check the file, then: `chmod go-w '" + path + "'`");
  }
  if (!is_root) return;
  REQUIRE_EQ(::chmod(path.c_str(), 0644), 0);
  REQUIRE_EQ(::chown(path.c_str(), 65533, 0), 0);
  CHECK_EQ(advice_for(path),
           "check the file, then: `chown root '" + path + "'; chmod go-w '" + path + "'`");
}

TEST_CASE("A user's own group may write, as the umask 002 of Debian's users allows") {
  struct stat info = {};
  info.st_mode = 0664;
  info.st_uid = ::geteuid() == 0 ? 1000 : ::geteuid();
  info.st_gid = info.st_uid;
  CHECK(bool{tools::check_trusted("file", info)} == (::geteuid() != 0));
  info.st_uid = 0;
  info.st_gid = 0;
  CHECK_FALSE(tools::check_trusted("file", info));
  CHECK(tools::detail::has_private_group({}) == false);
}

TEST_CASE("A file that is missing has its own error") {
  const auto text = tools::read_trusted_file(TempTree{} / "none");
  REQUIRE_FALSE(text);
  CHECK_EQ(text.error().system, ENOENT);
}
