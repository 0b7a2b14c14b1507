// Checks whether container engines are set up to read the specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../kit/engines/engines.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"
#include "finding.hpp"
#include "our_specs.hpp"

namespace prepare::doctor {

/// Whether an engine reads the directory in which specs are written.
bool reads_directory(const tools::HostTree& tree, const tools::Engine& engine,
                     const std::string& output_dir);

/// Reports whether an engine is set up to read the specs. `reads_all`: the engine rejects none of
/// the files.
void check_setup(const tools::HostTree& tree, const tools::Engine& engine,
                 const std::string& output_dir, Level trouble, bool reads_all, Findings& findings);

void check_engines(const tools::HostTree& tree, const std::vector<tools::Engine>& installed,
                   const std::string& output_dir, const std::vector<Inventory>& inventories,
                   Findings& findings);

}  // namespace prepare::doctor
