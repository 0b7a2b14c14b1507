// Intel GPUs on i915 or xe, with their SR-IOV functions; Intel NPUs; and Gaudi accelerators.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"

namespace prepare::intel {

/// The device name in Intel's tools: "0000-03-00-0-0xe211".
std::string uid(const PciFunction& function);

/// Finds the Intel GPUs among `functions`. Includes virtual functions with the GPU driver.
Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions);

/// Finds the NPUs of Intel processors among `functions`.
Inventory detect_npus(const tools::HostTree& tree, const std::vector<PciFunction>& functions);

/// Finds the Gaudi accelerators among `functions`, with the nodes of their network ports.
Inventory detect_gaudis(const tools::HostTree& tree, const std::vector<PciFunction>& functions);

}  // namespace prepare::intel
