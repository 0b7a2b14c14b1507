// Tests for include/cdi/files/signature.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/signature.hpp>

#include "../../support/temp_tree.hpp"

namespace {

cdi::Signature signature(const std::string& path) {
  struct stat info = {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return cdi::signature_of(info);
}

/// Of a file changed at that time.
cdi::Signature changed_at(std::int64_t seconds, std::int64_t nanoseconds) {
  return {.changed = seconds, .changed_ns = nanoseconds};
}

}  // namespace

TEST_CASE("A signature has the values of stat") {
  struct stat info = {};
  info.st_dev = 1;
  info.st_ino = 2;
  info.st_mode = 3;
  info.st_size = 4;
  info.st_mtim = {.tv_sec = 5, .tv_nsec = 6};
  info.st_ctim = {.tv_sec = 7, .tv_nsec = 8};
  const cdi::Signature expected{.device = 1,
                                .inode = 2,
                                .mode = 3,
                                .size = 4,
                                .modified = 5,
                                .modified_ns = 6,
                                .changed = 7,
                                .changed_ns = 8};
  CHECK(cdi::signature_of(info) == expected);
  CHECK(cdi::signature_of(info) != cdi::Signature{});
}

TEST_CASE("The signature of a file stays the same until its text or mode changes") {
  const TempTree tree;
  tree.put("a", "one");
  const auto before = signature(tree / "a");
  CHECK(signature(tree / "a") == before);
  tree.link("a", "link");
  CHECK(signature(tree / "link") == before);

  tree.put("a", "three");
  const auto longer = signature(tree / "a");
  CHECK(longer != before);
  REQUIRE(::chmod((tree / "a").c_str(), 0600) == 0);
  CHECK(signature(tree / "a") != longer);
}

TEST_CASE("A file that replaces another has another signature, whatever its times") {
  const TempTree tree;
  tree.put("a", "one");
  tree.put("b", "two");
  const timeval times[2] = {{.tv_sec = 1000, .tv_usec = 0}, {.tv_sec = 1000, .tv_usec = 0}};
  REQUIRE(::utimes((tree / "a").c_str(), times) == 0);
  REQUIRE(::utimes((tree / "b").c_str(), times) == 0);
  const auto before = signature(tree / "a");
  REQUIRE(::rename((tree / "b").c_str(), (tree / "a").c_str()) == 0);
  const auto after = signature(tree / "a");
  CHECK(after.modified == before.modified);
  CHECK(after != before);
}

TEST_CASE("The age of a file is in milliseconds, not negative and not too large") {
  constexpr std::int64_t max = 1'000'000'000;
  struct {
    std::int64_t seconds;
    std::int64_t nanoseconds;
    std::int64_t age;
  } const rows[] = {
      {5000, 500'000'000, 0},  // now
      {5000, 400'000'000, 100},
      {4999, 900'000'000, 600},  // the parts of a second borrow from the seconds
      {4998, 500'000'000, 2000},
      {5000, 600'000'000, 0},  // to come
      {5001, 0, 0},
      {std::numeric_limits<std::int64_t>::max(), 999'999'999, 0},
      {std::numeric_limits<std::int64_t>::min(), 0, max},
      {5000 - 1'000'001, 0, max},
  };
  for (const auto& row : rows) {
    CAPTURE(row.seconds);
    const timespec now{.tv_sec = 5000, .tv_nsec = 500'000'000};
    CHECK(cdi::age_of(changed_at(row.seconds, row.nanoseconds), now) == row.age);
  }
}

TEST_CASE("A signature is settled a little after the last change, when another change shows") {
  const timespec now{.tv_sec = 5000, .tv_nsec = 500'000'000};
  CHECK_FALSE(cdi::is_stable(changed_at(5000, 500'000'000), now));
  CHECK_FALSE(cdi::is_stable(changed_at(5000, 480'000'000), now));
  CHECK(cdi::is_stable(changed_at(5000, 470'000'000), now));
  CHECK_FALSE(cdi::is_stable(changed_at(6000, 1), now));  // a clock that was set back
  // Whole seconds: the file system may keep no more than that, or every second one.
  CHECK_FALSE(cdi::is_stable(changed_at(4999, 0), now));
  CHECK(cdi::is_stable(changed_at(4999, 1), now));
  CHECK(cdi::is_stable(changed_at(4998, 0), now));
}

TEST_CASE("A file just written is not settled, and the file clock is the files' clock") {
  const TempTree tree;
  const auto before = cdi::file_clock();
  tree.put("a", "one");
  CHECK_FALSE(cdi::is_stable(signature(tree / "a"), before));
  CHECK(cdi::age_of(signature(tree / "a"), before) <= 20);
  timespec much_later = before;
  much_later.tv_sec += 10;
  CHECK(cdi::is_stable(signature(tree / "a"), much_later));
}
