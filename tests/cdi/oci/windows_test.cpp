// Tests for include/cdi/oci/windows.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/windows.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The Windows part is written as it was read") {
  check_chapter<oci::Windows>("/windows");
}

TEST_CASE("Layers and the ids of devices are required") {
  CHECK(required_keys<oci::Windows>() == "layerFolders");
  CHECK(required_keys<oci::WindowsDevice>() == "id idType");
  CHECK(required_keys<oci::WindowsResources>() == "");
}
