// Operations of the library, with each of their allocations failing once.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../support/failing_memory.hpp"
#include "device_operations.hpp"
#include "file_operations.hpp"
#include "operation.hpp"
#include "request_operations.hpp"
#include "text_operations.hpp"
#include "world.hpp"

namespace {

using Seen = std::map<std::string, std::string>;

/// The text without the path of the world's directory.
std::string without_path(std::string text, const World& world) {
  const auto& path = world.dir.path();
  for (auto at = text.find(path); at != text.npos; at = text.find(path))
    text.erase(at, path.size());
  return text;
}

Seen seen_in(const World& world) {
  Seen out;
  for (const auto& [name, text] : world.seen()) {
    out[without_path(name, world)] = without_path(text, world);
  }
  return out;
}

std::string call(const Operation& operation, World& world) {
  return without_path(operation.call(world), world);
}

/// Whether each thing is as before or as after the operation.
bool is_between(const Seen& now, const Seen& before, const Seen& after) {
  Seen both = before;
  both.insert(after.begin(), after.end());
  for (const auto& [name, text] : both) {
    const auto found = now.find(name);
    const bool is_as_before = found == now.end()
                                  ? !before.contains(name)
                                  : before.contains(name) && before.at(name) == found->second;
    const bool is_as_after = found == now.end()
                                 ? !after.contains(name)
                                 : after.contains(name) && after.at(name) == found->second;
    if (!is_as_before && !is_as_after) return false;
  }
  for (const auto& [name, text] : now) {
    if (!both.contains(name)) return false;
  }
  return true;
}

/// The result of an operation that does not fail, and what others see before and after.
struct Expected {
  explicit Expected(const Operation& operation) {
    World world;
    operation.prepare(world);
    before = seen_in(world);
    result = call(operation, world);
    after = seen_in(world);
  }

  Seen before{};
  Seen after{};
  std::string result{};
};

/// Checks what is left after a failure, and that the operation then succeeds.
void check_rest(const Operation& operation, World& world, const Expected& expected) {
  const auto now = seen_in(world);
  using Leaves = Operation::Leaves;
  if (operation.leaves == Leaves::all_as_before) CHECK(now == expected.before);
  if (operation.leaves == Leaves::before_or_after) {
    CHECK(is_between(now, expected.before, expected.after));
  }
  if (operation.leaves == Leaves::valid_objects) return;
  const auto result = call(operation, world);
  if (now == expected.before) CHECK(result == expected.result);
  CHECK(seen_in(world) == expected.after);
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
constexpr bool nothing_leaks = false;  // g++ 11 loses parts of a temporary when another part throws
#else
constexpr bool nothing_leaks = true;
#endif

/// Calls an operation while one of its allocations fails; whether there was such an allocation.
bool fail_once(const Operation& operation, std::size_t number, const Expected& expected) {
  World world;
  operation.prepare(world);
  const auto files = open_files();
  std::string result;
  bool ran_out = false;
  failing::fail_at(number);
  try {
    result = operation.call(world);
  } catch (const std::bad_alloc&) {
    ran_out = true;
  }
  const bool has_failed = failing::has_failed;
  failing::fail_at(0);
  if (nothing_leaks) CHECK(open_files() == files);
  if (ran_out) {
    check_rest(operation, world, expected);
  } else {  // perhaps the operation can do without
    CHECK(without_path(result, world) == expected.result);
    CHECK(seen_in(world) == expected.after);
  }
  return has_failed;
}

/// By default, every third allocation fails, in its own run.
const char* const full = std::getenv("CDI_FULL");
const std::size_t step = full != nullptr && std::string_view{full} == "1" ? 1 : 3;

template <std::size_t size>
void check_all(std::string_view group, const Operation (&list)[size]) {
  std::size_t failures = 0;
  for (const auto& operation : list) {
    CAPTURE(operation.name);
    const Expected expected{operation};
    for (std::size_t number = 1;; number += step) {
      CAPTURE(number);
      const auto held = failing::held.load();
      const bool has_failed = fail_once(operation, number, expected);
      if (nothing_leaks) CHECK(failing::held == held);
      if (!has_failed) break;
      ++failures;
    }
  }
  MESSAGE(group << ": " << size << " operations, " << failures << " failed allocations");
}

}  // namespace

TEST_CASE("Reading and writing texts survives each failed allocation") {
  check_all("texts and models", text_operations);
}

TEST_CASE("Finding and injecting devices survives each failed allocation") {
  check_all("devices, policies and plans", device_operations);
}

TEST_CASE("Requests, hooks and conversions survive each failed allocation") {
  check_all("requests, hooks and conversions", request_operations);
}

TEST_CASE("Operations on files survive each failed allocation") {
  check_all("files, caches, publishers and claims", file_operations);
}
