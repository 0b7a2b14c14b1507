// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/file_state.hpp>

#include "../../support/good_spec.hpp"
#include "../../support/temp_tree.hpp"

namespace {

/// Reads a file again after each `wait()`, whatever the time.
template <class Wait>
cdi::detail::FileState read_patiently(const std::string& path, const Wait& wait,
                                      const cdi::detail::FileState& before = {}) {
  const cdi::ReadOptions options{.patience = std::chrono::hours{1}};
  return cdi::detail::read_spec_at({AT_FDCWD, path, path, 7}, options, before, wait);
}

}  // namespace

TEST_CASE("A half-written file is read again until it is complete") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, "");
  std::size_t written = 0;
  const auto file = read_patiently(path, [&] {
    written += 20;
    put_file(path, good_json.substr(0, written));
    return true;
  });
  CHECK(written >= good_json.size());
  REQUIRE(file.spec);
  CHECK_FALSE(file.rejected);
  CHECK(file.spec->spec == good_spec());
  CHECK(file.spec->priority == 7);
}

TEST_CASE(
    "A file that stays invalid is rejected when the time is over, with one read after each wait") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, "{\"cdiVersion\": \"9.0.0\", \"kind\": \"v.com/c\", \"devices\": [{\"name\": \"d");
  int waits = 0;
  const auto file = read_patiently(path, [&] { return ++waits < 3; });
  CHECK(waits == 3);
  CHECK_FALSE(file.spec);
  REQUIRE(file.rejected);
  CHECK(file.rejected->why.code == cdi::Errc::syntax);
  CHECK(file.rejected->kind == "v.com/c");
  CHECK(file.rejected->devices == std::vector<std::string>{"d"});
  CHECK(file.rejected->needs_version == "9.0.0");

  // The same bytes as the last time: they were waited for then.
  const auto again = read_patiently(
      path, [&] { return ++waits < 10; }, file);
  CHECK(waits == 3);
  CHECK(again.rejected == file.rejected);
}

TEST_CASE("A valid or removed file is not waited for") {
  const TempTree dir;
  const auto never = [] {
    FAIL_CHECK("waited");
    return false;
  };
  put_file(dir / "good.json", good_json);
  CHECK(read_patiently(dir / "good.json", never).spec);
  CHECK(read_patiently(dir / "gone.json", never).rejected->why.system == ENOENT);
  CHECK(read_patiently(dir / "a.txt", never).rejected->why.code == cdi::Errc::invalid);

  put_file(dir / "bad.json", "{");
  const auto gone =
      read_patiently(dir / "bad.json", [&] { return ::unlink((dir / "bad.json").c_str()) == 0; });
  REQUIRE(gone.rejected);
  CHECK(gone.rejected->why.system == ENOENT);
}

TEST_CASE("Without patience an invalid file is rejected at once") {
  const TempTree dir;
  put_file(dir / "a.json", "{");
  const auto path = dir / "a.json";
  const auto file = cdi::detail::read_spec_at({AT_FDCWD, path, path}, {.patience = {}}, {}, [] {
    FAIL_CHECK("waited");
    return false;
  });
  REQUIRE(file.rejected);
  CHECK(file.rejected->why.code == cdi::Errc::syntax);
}

TEST_CASE("The same bytes are not parsed again, other bytes of the same size are") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, good_json);
  const auto once = [] {
    return false;
  };
  const auto first = read_patiently(path, once);
  REQUIRE(first.spec);
  put_file(path, good_json);
  CHECK(read_patiently(path, once, first).spec == first.spec);
  auto other = good_json;
  put_file(path, other.replace(other.find("A=1"), 3, "A=2"));
  const auto second = read_patiently(path, once, first);
  REQUIRE(second.spec);
  CHECK(second.spec->spec.devices[0].container_edits.env == std::vector<std::string>{"A=2"});
}

TEST_CASE("A spec has the access that its file had when it was last read") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, good_json);
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  const auto no_wait = [] {
    return false;
  };
  const auto before = read_patiently(path, no_wait);
  REQUIRE(before.spec);
  REQUIRE(before.spec->access);
  CHECK(*before.spec->access == cdi::FileAccess{::geteuid(), ::getegid(), 0640});
  // The bytes are the same: the spec is not parsed again, and yet its access is that of now.
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  const auto after = read_patiently(path, no_wait, before);
  REQUIRE(after.spec);
  CHECK(after.spec->access->mode == 0666);
  CHECK(before.spec->access->mode == 0640);
  CHECK(read_patiently(path, no_wait, after).spec == after.spec);
}
