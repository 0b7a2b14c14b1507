// Tests for include/cdi/base/order.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/order.hpp>

namespace {

std::vector<std::size_t> order_of(const std::vector<int>& values) {
  return cdi::detail::order_of(values.size(),
                               [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
}

}  // namespace

TEST_CASE("The order of a few values") {
  using Order = std::vector<std::size_t>;
  CHECK(order_of({}).empty());
  CHECK(order_of({7}) == Order{0});
  CHECK(order_of({1, 2}) == Order{0, 1});
  CHECK(order_of({2, 1}) == Order{1, 0});
  CHECK(order_of({3, 1, 2}) == Order{1, 2, 0});
}

TEST_CASE("Sorting is stable, for any number of values") {
  for (std::size_t size = 0; size < 70; ++size) {
    CAPTURE(size);
    for (const unsigned kinds : {1U, 2U, 5U, 100U}) {
      std::vector<int> values(size);
      unsigned next = static_cast<unsigned>(size) * 7 + kinds;
      for (int& value : values) {
        next = next * 1103515245 + 12345;
        value = static_cast<int>((next >> 16) % kinds);
      }
      std::vector<std::size_t> expected(size);
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
      CHECK(order_of(values) == expected);
    }
  }
}

TEST_CASE("Each key finds the first that is equal") {
  using cdi::detail::first_of_equals;
  using First = std::vector<std::size_t>;
  CHECK(first_of_equals({}).empty());
  CHECK(first_of_equals({"a"}) == First{0});
  CHECK(first_of_equals({"b", "a", "b", "", "a", "b", ""}) == First{0, 1, 0, 3, 1, 0, 3});
}

TEST_CASE("The values that come first are counted, for any number of them") {
  for (std::size_t count = 0; count < 20; ++count) {
    for (std::size_t first = 0; first <= count; ++first) {
      CHECK(cdi::detail::count_first(count, [&](std::size_t i) { return i < first; }) == first);
    }
  }
}
