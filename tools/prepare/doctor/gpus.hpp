// Checks of GPUs and their nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/model/gpu.hpp"
#include "../../kit/engines/engines.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare::doctor {

/// Checks the GPUs of a kind. `make_nodes` is the command that makes missing nodes.
void check_inventory(const Inventory& found, const std::string& make_nodes, Findings& findings);

void check_char_links(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                      Findings& findings);

}  // namespace prepare::doctor
