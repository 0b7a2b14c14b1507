// Tests for include/cdi/dirs/waiting.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <thread>

#include <doctest/doctest.h>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/waiting.hpp>

#include "../../support/cache_tree.hpp"
#include "../../support/forbidden_call.hpp"

namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("Waiting ends when the specs of all names are complete") {
  const TempTree tree;
  cdi::Cache cache{{tree / "late/cdi"}};
  std::thread writer{[&] {
    tree.make_dir("late");
    tree.make_dir("late/cdi");
    tree.put_spec("late/cdi/other.yaml", "other");
    tree.put("late/cdi/x.json", R"({"cdiVersion":"1.0.0","kind":"w/c","dev)");
    tree.put("late/cdi/x.json", R"({"cdiVersion":"1.0.0","kind":"w/c","devices":[)"
                                R"({"name":"d","containerEdits":{"env":["A=1"]}}]})");
  }};
  const auto registry = cache.wait_for({"w/c=d", "v/c=other"}, far());
  writer.join();
  REQUIRE_MESSAGE(registry, (registry ? "" : to_string(registry.error())));
  CHECK((*registry)->find("w/c=d").device != nullptr);
  CHECK(cache.snapshot() == *registry);
}

TEST_CASE("Without inotify, a wait looks at the directories again and again") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  cdi::Cache cache{{a}};
  Opened opened{a};
  std::atomic<bool> is_forbidden = false;
  std::atomic<bool> is_found = false;
  std::thread waiter{[&] {
    is_forbidden = forbid_call(SYS_inotify_init1, EMFILE);
    is_found = cache.wait_for({"v/c=d"}, far()).has_value();
  }};
  CHECK(eventually([&] { return !opened.take().empty(); }));  // it has looked once
  tree.put_spec("a/x.yaml", "d");
  waiter.join();
  CHECK(is_found);
  if (!is_forbidden) MESSAGE("this kernel has no filters of system calls: inotify was used");
}

TEST_CASE("Waiting ends at once if it cannot help") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  const auto unknown = cache.wait_for({"v/c=d", "v/c=e"}, far(), {.quiet_period = 0ms});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == cdi::Errc::not_found);
  CHECK(unknown.error().message.find("kind \"v/c\" has no device \"e\"") != std::string::npos);
  const auto invalid = cache.wait_for({"d"}, far(), {.fail_on_unknown_device = false});
  REQUIRE_FALSE(invalid);
  CHECK(invalid.error().code == cdi::Errc::invalid_name);

  // No longer wait would help, so that it is not the deadline that failed.
  const auto now = steady_clock::now();
  CHECK(cache.wait_for({"d"}, now).error().code == cdi::Errc::invalid_name);
  CHECK(cache.wait_for({"v/c=e"}, now, {.quiet_period = 0ms}).error().code == cdi::Errc::not_found);

  // On request, it waits on, for specs whose devices appear one after the other.
  std::thread writer{[&] {
    tree.put_spec("a/y.yaml", "e");
  }};
  CHECK(cache.wait_for({"v/c=d", "v/c=e"}, far(), {.fail_on_unknown_device = false}));
  writer.join();
}

TEST_CASE(
    "A file that was just changed is waited for, though its kind exists and the device does not") {
  const std::string_view pieces[] = {"", "{", R"({"cdiVersion":"1.0.0","kind":"v/c","dev)",
                                     "cdiVersion: 1.0.0\nkind: v/c\ndevices:\n- name: other\n"
                                     "  containerEdits: {env: [A=1]}\n"};
  for (const auto piece : pieces) {
    CAPTURE(piece);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    tree.put_spec("a/x.yaml", "d");
    tree.put("a/y.yaml", piece);
    cdi::Cache cache{{a}};
    std::atomic<bool> requested = false;
    std::thread writer{[&] {
      // After the first check, while it waits on.
      CHECK(eventually([&] { return requested.load(); }));
      tree.put_spec("a/y.yaml", "e");
    }};
    // Asks again each time that a file changes; `quiet_period` never ends.
    const struct AskedNames {
      std::atomic<bool>* requested;
      const std::string* begin() const {
        static const std::string name = "v/c=e";
        *requested = true;
        return &name;
      }
      const std::string* end() const { return begin() + 1; }
    } names{&requested};
    CHECK(cache.wait_for(names, far(), {.quiet_period = 60s}));
    writer.join();
  }
}

TEST_CASE("When the deadline passes, the error has the reasons") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/x.json", R"({"cdiVersion":"1.0.0","kind":"v/c","dev)");
  cdi::Cache cache{{a}};
  const auto registry = cache.wait_for({"v/c=d"}, steady_clock::now() + 1ms);
  REQUIRE_FALSE(registry);
  CHECK(registry.error().code == cdi::Errc::timeout);
  CHECK(registry.error().message.starts_with("timed out: cannot resolve \"v/c=d\": "));
  CHECK(registry.error().message.find(a + "/x.json:1:") != std::string::npos);
}
