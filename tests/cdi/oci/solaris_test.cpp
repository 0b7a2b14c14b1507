// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/oci/solaris.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The Solaris chapter comes back as it was") {
  check_chapter<oci::Solaris>("/solaris");
}

TEST_CASE("Nothing of it must be there") {
  CHECK(required_keys<oci::Solaris>() == "");
  CHECK(required_keys<oci::SolarisAnet>() == "");
}
