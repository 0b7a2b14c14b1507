// Tests for include/cdi/oci/solaris.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/solaris.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The Solaris part is written as it was read") {
  check_chapter<oci::Solaris>("/solaris");
}

TEST_CASE("No member of the Solaris part is required") {
  CHECK(required_keys<oci::Solaris>() == "");
  CHECK(required_keys<oci::SolarisAnet>() == "");
}
