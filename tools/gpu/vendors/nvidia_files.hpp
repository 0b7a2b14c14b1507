// The files of NVIDIA's driver for containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../model/driver_file.hpp"
#include "../model/fault.hpp"
#include "driver_place.hpp"

namespace prepare::nvidia {

/// The driver files for containers, sorted by container path, at the places of the driver on the
/// host. `driver_version` is the version of the loaded module; libraries of another version do not
/// work with it, and cause a warning.
std::vector<DriverFile> driver_files(const tools::HostTree& host, const std::string& driver_version,
                                     std::vector<Problem>& warnings, const DriverPlace& place = {});

}  // namespace prepare::nvidia
