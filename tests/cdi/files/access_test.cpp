// Tests for include/cdi/files/access.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/access.hpp>

namespace {

struct stat with_mode(mode_t mode, uid_t user, gid_t group) {
  struct stat info = {};
  info.st_mode = mode;
  info.st_uid = user;
  info.st_gid = group;
  return info;
}

}  // namespace

TEST_CASE("Access is described in octal digits and numbers") {
  CHECK(cdi::detail::describe_access(with_mode(S_IFREG | 0640, 7, 8)) ==
        "mode 0640, owner 7, group 8");
  CHECK(cdi::detail::describe_access(with_mode(S_IFDIR | 01777, 0, 0)) ==
        "mode 01777, owner 0, group 0");
  const cdi::Error other{.code = cdi::Errc::system, .message = "x", .system = ENOENT};
  CHECK(cdi::detail::with_access(other, with_mode(0, 0, 0)).message == "x");
}

TEST_CASE("Other users are all except root and the user of the process") {
  const auto me = ::geteuid();
  const uid_t foreign = me + 1;
  struct {
    mode_t mode;
    uid_t user;
    gid_t group;
    bool writable;
  } const rows[] = {
      {0644, 0, 0, false},
      {0644, me, 5, false},
      {0664, 0, 0, true},  // the members of group 0 are not known
      {0664, 0, 5, true},
      {0646, 0, 0, true},
      {0644, foreign, 0, true},
      {0400, foreign, 0, true},
      {0755 | S_IFDIR, 0, 0, false},
      {01777 | S_IFDIR, 0, 0, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.mode);
    CAPTURE(row.user);
    CAPTURE(row.group);
    CHECK(cdi::is_writable_by_others(with_mode(row.mode, row.user, row.group)) == row.writable);
  }
}

TEST_CASE("A file that other users may write is refused with its kind, mode and owner") {
  const auto me = ::geteuid();
  CHECK(cdi::check_writers("f", with_mode(S_IFREG | 0644, me, 0)));
  const auto file = cdi::check_writers("f", with_mode(S_IFREG | 0666, 0, 3));
  REQUIRE_FALSE(file);
  CHECK(file.error().code == cdi::Errc::denied);
  CHECK(to_string(file.error()) ==
        "f: other users may write to the file: mode 0666, owner 0, group 3");
  const auto dir = cdi::check_writers("d", with_mode(S_IFDIR | 0755, me + 1, 3));
  REQUIRE_FALSE(dir);
  CHECK(to_string(dir.error()) ==
        "d: a user other than root and the user of this process owns the directory: mode 0755, "
        "owner " +
            std::to_string(me + 1) + ", group 3");
}
