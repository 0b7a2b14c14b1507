// Findings about why containers may not get the GPUs of a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/findings/engine_setup.hpp"
#include "../../gpu/findings/finding.hpp"
#include "../../gpu/model/gpu.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../../gpu/vendors/driver_place.hpp"
#include "../../kit/host/host_tree.hpp"
#include "specs.hpp"

// Checks drivers, nodes, the directories that engines read and the specs in them. Changes nothing,
// and reads nothing outside the root.

namespace prepare {

struct DoctorOptions {
  std::string output_dir = "/var/run/cdi";                        // for the specs of `write`
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();  // the last has priority
  std::string state_dir = "/var/lib/cdi-prepare";                 // of the journal of claims
  DriverPlace driver{};              // where NVIDIA's driver is installed
  std::vector<std::string> place{};  // arguments for commands on the same place
};

/// The findings about a host; `inventories` are its GPUs, and `engines` the installed engines.
std::vector<Finding> diagnose_host(const tools::HostTree& tree,
                                   const std::vector<Inventory>& inventories,
                                   const std::vector<tools::Engine>& engines,
                                   const DoctorOptions& options);

/// The findings about a host, including its claims.
std::vector<Finding> diagnose_host(const Survey& survey, const std::vector<tools::Engine>& engines,
                                   const DoctorOptions& options);

}  // namespace prepare
