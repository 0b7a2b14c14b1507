// Tests for include/cdi/oci/zos.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/zos.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The z/OS part is written as it was read") {
  check_chapter<oci::Zos>("/zos");
}

TEST_CASE("A namespace has a type") {
  CHECK(required_keys<oci::ZosNamespace>() == "type");
}
