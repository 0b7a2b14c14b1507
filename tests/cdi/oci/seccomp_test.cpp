// Tests for include/cdi/oci/seccomp.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/seccomp.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("Seccomp rules are written as they were read") {
  check_chapter<oci::LinuxSeccomp>("/linux/seccomp");
}

TEST_CASE("Rules name system calls and an action") {
  CHECK(required_keys<oci::LinuxSeccomp>() == "defaultAction");
  CHECK(required_keys<oci::LinuxSyscall>() == "names action");
  CHECK(required_keys<oci::LinuxSeccompArg>() == "index value op");
}
