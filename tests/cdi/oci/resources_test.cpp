// Tests for include/cdi/oci/resources.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/resources.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("Control groups are written as they were read") {
  check_chapter<oci::LinuxResources>("/linux/resources");
}

TEST_CASE("Rules, limits and rates have required members") {
  CHECK(required_keys<oci::LinuxDeviceCgroup>() == "allow");
  CHECK(required_keys<oci::LinuxHugepageLimit>() == "pageSize limit");
  CHECK(required_keys<oci::LinuxThrottleDevice>() == "major minor rate");
  CHECK(required_keys<oci::LinuxWeightDevice>() == "major minor");
  CHECK(required_keys<oci::LinuxInterfacePriority>() == "name priority");
  CHECK(required_keys<oci::LinuxPids>() == "");
  CHECK(required_keys<oci::LinuxMemory>() == "");
  CHECK(required_keys<oci::LinuxCpu>() == "");
}
