// Tests for include/cdi/files/file_state.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/file_state.hpp>
#include <cdi/files/spec_text.hpp>

#include "../../support/good_spec.hpp"
#include "../../support/temp_tree.hpp"
#include "kind_texts.hpp"

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// Reads a file again after each `wait()`, whatever the time.
template <class Wait>
cdi::detail::FileState read_with_retries(const std::string& path, const Wait& wait,
                                         const cdi::detail::FileState& before = {}) {
  const cdi::ReadOptions options{.retry_window = std::chrono::hours{1}};
  return cdi::detail::read_spec_at({AT_FDCWD, path, path, 7}, options, before, wait);
}

}  // namespace

TEST_CASE("A half-written file is read again until it is complete") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, "");
  std::size_t written = 0;
  const auto file = read_with_retries(path, [&] {
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
  const auto file = read_with_retries(path, [&] { return ++waits < 3; });
  CHECK(waits == 3);
  CHECK_FALSE(file.spec);
  REQUIRE(file.rejected);
  CHECK(file.rejected->why.code == cdi::Errc::syntax);
  CHECK(file.rejected->kind == "v.com/c");
  CHECK(file.rejected->devices == std::vector<std::string>{"d"});
  CHECK(file.rejected->needs_version == "9.0.0");

  // The same bytes as the last time: they were waited for then.
  const auto again = read_with_retries(
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
  CHECK(read_with_retries(dir / "good.json", never).spec);
  CHECK(read_with_retries(dir / "gone.json", never).rejected->why.system == ENOENT);
  CHECK(read_with_retries(dir / "a.txt", never).rejected->why.code == cdi::Errc::invalid);

  put_file(dir / "bad.json", "{");
  const auto gone = read_with_retries(dir / "bad.json",
                                      [&] { return ::unlink((dir / "bad.json").c_str()) == 0; });
  REQUIRE(gone.rejected);
  CHECK(gone.rejected->why.system == ENOENT);
}

TEST_CASE("Without patience an invalid file is rejected at once") {
  const TempTree dir;
  put_file(dir / "a.json", "{");
  const auto path = dir / "a.json";
  const auto file = cdi::detail::read_spec_at({AT_FDCWD, path, path}, {.retry_window = {}}, {}, [] {
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
  const auto first = read_with_retries(path, once);
  REQUIRE(first.spec);
  put_file(path, good_json);
  CHECK(read_with_retries(path, once, first).spec == first.spec);
  auto other = good_json;
  put_file(path, other.replace(other.find("A=1"), 3, "A=2"));
  const auto second = read_with_retries(path, once, first);
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
  const auto before = read_with_retries(path, no_wait);
  REQUIRE(before.spec);
  REQUIRE(before.spec->access);
  CHECK(*before.spec->access == cdi::FileAccess{::geteuid(), ::getegid(), 0640});
  // The bytes are the same: the spec is not parsed again, but its access is current.
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  const auto after = read_with_retries(path, no_wait, before);
  REQUIRE(after.spec);
  CHECK(after.spec->access->mode == 0666);
  CHECK(before.spec->access->mode == 0640);
  CHECK(read_with_retries(path, no_wait, after).spec == after.spec);
}

TEST_CASE("A wait lasts at least as long as requested, despite signals") {
  struct sigaction before = {};
  struct sigaction ignore = {};
  ignore.sa_handler = [](int) {
  };  // without SA_RESTART: system calls are interrupted
  REQUIRE(::sigaction(SIGUSR1, &ignore, &before) == 0);
  const pthread_t waiting = ::pthread_self();
  std::thread sender{[&] {
    for (int i = 0; i < 100; ++i) ::pthread_kill(waiting, SIGUSR1);
  }};
  const auto begin = Clock::now();
  cdi::detail::sleep_for(20ms);
  CHECK(Clock::now() - begin >= 20ms);
  sender.join();
  REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
  cdi::detail::sleep_for(-1s);  // does not wait
}

TEST_CASE("RetryWindow waits until its time is over, and not at all without time") {
  const cdi::detail::RetryWindow none{0ms};
  CHECK_FALSE(none());
  const auto begin = Clock::now();
  const cdi::detail::RetryWindow some{20ms};
  int waits = 0;
  while (some()) ++waits;
  CHECK(waits <= 10);
  CHECK(Clock::now() - begin >= 2ms * waits);
  CHECK(cdi::detail::RetryWindow{std::chrono::milliseconds::max()}());  // does not overflow
}

namespace {

bool can_be_in(const std::vector<std::string>& names, std::string_view text) {
  return cdi::detail::RequestedKinds{names}.can_be_in(text);
}

}  // namespace

TEST_CASE("A spec can be of its kind, however the kind is written") {
  for (const auto& one : kind_texts("v.com/gpu", "a", "A=1")) {
    CAPTURE(one.what);
    const auto name = std::string{"x"} + one.format;
    const auto spec = cdi::parse_spec(one.text, name, *cdi::format_of(name));
    REQUIRE_MESSAGE(spec, (spec ? "" : to_string(spec.error())));
    CHECK(spec->spec.kind == "v.com/gpu");
    CHECK(can_be_in({"w.org/nic=0", "v.com/gpu=a"}, one.text));
  }
}

TEST_CASE("A text without the bytes of a kind, and without other ways to write it, is not of it") {
  constexpr std::string_view text =
      "cdiVersion: 1.0.0\nkind: v.com/gpu\ndevices:\n- name: 'it''s # %41 & > |'\n";
  CHECK_FALSE(can_be_in({}, text));
  CHECK_FALSE(can_be_in({"v.com/nic=a", "v.com/gpus=a"}, text));
  CHECK(can_be_in({"v.com/gp=a"}, text));  // the bytes are there
  for (const char other : {'\\', '!', '\0'}) {
    const std::string with = std::string{text}.append(1, other);
    CHECK(can_be_in({"v.com/nic=a"}, with));
    CHECK_FALSE(can_be_in({}, with));
  }
}

TEST_CASE("For many kinds, no text is searched") {
  std::vector<std::string> names;
  for (char vendor = 'a'; vendor <= 'h'; ++vendor) {
    names.push_back(std::string{vendor} + ".com/c=d");
    names.push_back(std::string{vendor} + ".com/c=e");
  }
  CHECK_FALSE(can_be_in(names, "kind: v.com/gpu"));
  names.emplace_back("i.com/c=d");
  CHECK(can_be_in(names, "kind: v.com/gpu"));
}

TEST_CASE("Any name may be asked for") {
  CHECK(can_be_in({""}, "x"));
  CHECK(can_be_in({"=a"}, "x"));
  CHECK_FALSE(can_be_in({"v.com/gpu"}, "x"));
  CHECK(can_be_in({"v.com/gpu=a=b", "v.com/gpu=a"}, "kind: v.com/gpu"));
}
