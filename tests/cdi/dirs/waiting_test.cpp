// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/waiting.hpp>

#include "../../cache_tree.hpp"

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

TEST_CASE("Waiting ends at once if it cannot help") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}};
  const auto unknown = cache.wait_for({"v/c=d", "v/c=e"}, far(), {.quiet = 0ms});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == cdi::Errc::not_found);
  CHECK(unknown.error().message.find("kind \"v/c\" has no device \"e\"") != std::string::npos);
  const auto invalid = cache.wait_for({"d"}, far(), {.fail_on_unknown_device = false});
  REQUIRE_FALSE(invalid);
  CHECK(invalid.error().code == cdi::Errc::invalid_name);

  // No longer wait would help, so that it is not the deadline that failed.
  const auto now = steady_clock::now();
  CHECK(cache.wait_for({"d"}, now).error().code == cdi::Errc::invalid_name);
  CHECK(cache.wait_for({"v/c=e"}, now, {.quiet = 0ms}).error().code == cdi::Errc::not_found);

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
    std::atomic<bool> asked = false;
    std::thread writer{[&] {
      // After the first check, while it waits on.
      CHECK(eventually([&] { return asked.load(); }));
      tree.put_spec("a/y.yaml", "e");
    }};
    // Asks again each time that a file changes; `quiet` never ends.
    const struct AskedNames {
      std::atomic<bool>* asked;
      const std::string* begin() const {
        static const std::string name = "v/c=e";
        *asked = true;
        return &name;
      }
      const std::string* end() const { return begin() + 1; }
    } names{&asked};
    CHECK(cache.wait_for(names, far(), {.quiet = 60s}));
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
