// Checks of NVIDIA's driver and its libraries.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/vendors/driver_place.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare::doctor {

/// Checks the module and the libraries. `arguments` are those with which `write` keeps a spec.
void check_nvidia_driver(const tools::HostTree& tree, const DriverPlace& place,
                         std::vector<std::string> arguments, Findings& findings);

}  // namespace prepare::doctor
