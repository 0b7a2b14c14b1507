// Tests for include/cdi/model/spec_version.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/model/spec_version.hpp>

using cdi::SpecVersion;

static_assert(SpecVersion{} == SpecVersion{0, 3, 0}, "the first that a spec file can name");
static_assert(SpecVersion{0, 10, 0} > SpecVersion{0, 9, 9} &&
              SpecVersion{1, 0, 0} > SpecVersion{0, 10, 0});

TEST_CASE("A version is written with three numbers") {
  CHECK(to_string(SpecVersion{0, 5, 0}) == "0.5.0");
  CHECK(to_string(SpecVersion{10, 0, 255}) == "10.0.255");
}
