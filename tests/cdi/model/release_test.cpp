// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/model/release.hpp>

using cdi::Release;

static_assert(Release{} == Release{0, 3, 0}, "the first that a spec file can name");
static_assert(Release{0, 10, 0} > Release{0, 9, 9} && Release{1, 0, 0} > Release{0, 10, 0});

TEST_CASE("A release is written with three numbers") {
  CHECK(to_string(Release{0, 5, 0}) == "0.5.0");
  CHECK(to_string(Release{10, 0, 255}) == "10.0.255");
}
