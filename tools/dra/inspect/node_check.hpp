// Checks whether the kubelet, the engine and the driver of a node fit together.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../../gpu/findings/engine_setup.hpp"
#include "../settings.hpp"
#include "status.hpp"

namespace dra {

using prepare::doctor::Findings;

/// Checks what fits together on a node, and what does not.
cdi::Result<Findings> check_node(const Settings& settings);

}  // namespace dra
