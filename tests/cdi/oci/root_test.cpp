// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/oci/root.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The root file system is written as it was read") {
  check_chapter<oci::Root>("/root");
}

TEST_CASE("A root file system has a path") {
  CHECK(required_keys<oci::Root>() == "path");
}
