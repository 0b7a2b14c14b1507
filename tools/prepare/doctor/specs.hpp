// Checks whether the specs exist and match this host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/model/gpu.hpp"
#include "../../kit/engines/engines.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/conversion.hpp"

namespace prepare::doctor {

void check_specs(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                 const std::vector<tools::Engine>& engines, const std::vector<std::string>& dirs,
                 const std::vector<std::string>& arguments, Findings& findings);

}  // namespace prepare::doctor
