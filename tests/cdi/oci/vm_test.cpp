// Tests for include/cdi/oci/vm.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/oci/vm.hpp>

#include "every_member.hpp"

namespace oci = cdi::oci;

TEST_CASE("The virtual machine is written as it was read") {
  check_chapter<oci::Vm>("/vm");
}

TEST_CASE("A virtual machine has a kernel") {
  CHECK(required_keys<oci::Vm>() == "kernel");
  CHECK(required_keys<oci::VmKernel>() == "path");
  CHECK(required_keys<oci::VmHypervisor>() == "path");
  CHECK(required_keys<oci::VmImage>() == "path format");
  CHECK(required_keys<oci::VmIoMem>() == "firstMFN nrMFNs");
  CHECK(required_keys<oci::VmHwConfig>() == "");
}
