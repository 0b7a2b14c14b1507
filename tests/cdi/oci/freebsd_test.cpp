// Tests for include/cdi/oci/freebsd.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/freebsd.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The FreeBSD part is written as it was read") {
  check_chapter<oci::FreeBsd>("/freebsd");
}

TEST_CASE("A device has a path") {
  CHECK(required_keys<oci::FreeBsdDevice>() == "path");
  CHECK(required_keys<oci::FreeBsdJail>() == "");
}
