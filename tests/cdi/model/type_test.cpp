// Tests for include/cdi/model/type.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>

namespace {

using cdi::detail::type_of;

/// Stores a number and loads it again.
template <class T>
bool survives(T number) {
  T stored{};
  cdi::detail::store_integer(&stored, type_of<T>, static_cast<std::uint64_t>(number));
  return stored == number &&
         static_cast<T>(cdi::detail::load_integer(&stored, type_of<T>)) == number;
}

template <class T>
bool extremes_survive() {
  using Limits = std::numeric_limits<T>;
  return survives<T>(Limits::min()) && survives<T>(Limits::max()) && survives<T>(0) &&
         survives<T>(1);
}

TEST_CASE("Integers of every width keep their value") {
  CHECK(extremes_survive<std::int8_t>());
  CHECK(extremes_survive<std::uint8_t>());
  CHECK(extremes_survive<std::int16_t>());
  CHECK(extremes_survive<std::uint16_t>());
  CHECK(extremes_survive<std::int32_t>());
  CHECK(extremes_survive<std::uint32_t>());
  CHECK(extremes_survive<std::int64_t>());
  CHECK(extremes_survive<std::uint64_t>());
  CHECK(extremes_survive<long long>());
  CHECK(extremes_survive<unsigned long long>());
}

}  // namespace
