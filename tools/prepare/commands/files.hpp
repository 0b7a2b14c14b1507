// The command `files`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/model/driver_file.hpp"
#include "../../gpu/model/fault.hpp"
#include "../../gpu/model/profile.hpp"
#include "../../gpu/vendors/driver_place.hpp"
#include "../../kit/host/host_tree.hpp"
#include "command.hpp"

// Programs that build the root of a virtual machine copy these files. No GPU, loaded module or
// NVML is needed.

namespace prepare {

/// The version of the driver whose files are listed. An error if it is ambiguous.
cdi::Result<std::string> version_for_files(const tools::HostTree& host, const DriverPlace& place,
                                           const std::string& given);

/// The files of the driver for a profile, without the sockets of running programs.
std::vector<DriverFile> files_for(const tools::HostTree& host, const DriverPlace& place,
                                  const std::string& version, Profiles profiles,
                                  std::vector<Problem>& warnings);

}  // namespace prepare
