// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// What many devices cost: memory against the text they are read from, allocations of a lookup.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../bench/scale_data.hpp"
#include "../temp_tree.hpp"

namespace {

std::atomic<std::size_t> held{0};  // bytes, with what malloc rounds up
std::atomic<std::size_t> allocations{0};

}  // namespace

// The whole program allocates here. Not inlined: g++ would see half of a pair and warn.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  held += ::malloc_usable_size(memory) + sizeof(std::size_t);  // its own head
  ++allocations;
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) held -= ::malloc_usable_size(memory) + sizeof(std::size_t);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
constexpr int tenth = 10;  // a tenth of it takes as long there
#else
constexpr int tenth = 1;
#endif

/// Checks that all devices are found, and that finding them takes no memory.
void check_lookup(const cdi::Registry& registry, int files, int devices) {
  std::vector<std::string> names;
  for (int file = 0; file < files; ++file) {
    for (int device = 0; device < devices; ++device) {
      names.push_back(cdi::qualified_name(scale_kind(file), "dev" + std::to_string(device)));
    }
  }
  const std::size_t before = allocations;
  std::size_t found = 0;
  for (const auto& name : names) {
    if (registry.find(name).device != nullptr) ++found;
  }
  CHECK(allocations == before);
  CHECK(found == names.size());
}

}  // namespace

TEST_CASE("Many devices in one file take less than three times its text") {
  for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
    constexpr int devices = 10'000 / tenth;
    const auto text = scale_text(scale_spec(0, devices), format);
    const std::size_t before = held;
    auto spec = cdi::parse_spec(text, "/etc/cdi/x", format);
    REQUIRE(spec);
    const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(*spec))}};
    const double ratio = static_cast<double>(held - before) / static_cast<double>(text.size());
    CAPTURE(ratio);
    CHECK(ratio < 3);
    CHECK(ratio > 0.5);  // it does count
    check_lookup(registry, 1, devices);
  }
}

TEST_CASE("Many devices in many files take less than three times their text") {
  constexpr int files = 1000 / tenth;
  constexpr int devices = 100;
  const TempTree tree;
  const auto bytes = write_scale_data(tree.make_dir("a"), files, devices);
  const std::size_t before = held;
  cdi::Cache cache{{tree / "a"}};
  REQUIRE(cache.registry()->devices().size() == std::size_t{files} * devices);
  const double ratio = static_cast<double>(held - before) / static_cast<double>(bytes);
  CAPTURE(ratio);
  CHECK(ratio < 3);
  check_lookup(*cache.registry(), files, devices);
  const auto again = cache.registry();
  CHECK(static_cast<double>(held - before) / static_cast<double>(bytes) < 3);
}
