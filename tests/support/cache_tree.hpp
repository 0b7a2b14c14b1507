// Shared by the tests of caches: devices by file, deadlines, and limits of open files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/cache.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/registry/registry.hpp>

#include "opened.hpp"
#include "temp_tree.hpp"

using Names = std::vector<std::string>;
using std::chrono::steady_clock;

/// The file that a device names in `FROM`; empty if the device cannot be resolved.
inline std::string from(const cdi::Registry& registry, std::string_view name) {
  const auto found = registry.find(name);
  return found.device == nullptr ? "" : found.device->container_edits.env.at(0).substr(5);
}

/// A deadline that is only reached if the test fails.
inline steady_clock::time_point far() {
  return steady_clock::now() + std::chrono::seconds{60};
}

/// Waits until a condition holds; false if it does not within a minute.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = far();
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Queries until no file is read any more: a cache rereads recently changed files for a moment.
inline void settle(cdi::Cache& cache, Opened& opened) {
  REQUIRE(eventually([&] {
    opened.take();
    cache.registry();
    return opened.take().empty();
  }));
}

/// Lowers the limit on open files, so that no more can be opened.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

inline const char* const every_freshness[] = {"checked", "watched"};
inline cdi::CacheOptions fresh(std::string_view name) {
  return {.freshness = name == "checked" ? cdi::Freshness::checked : cdi::Freshness::watched};
}
