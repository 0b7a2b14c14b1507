// Follows a pod's devices up to kubelet: claims, kubelet's checkpoints, drivers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../../kit/host/host_tree.hpp"
#include "pod_facts.hpp"
#include "pod_steps.hpp"

namespace detail {

using State = PodStep::State;

}  // namespace detail

/// Adds the steps of a pod's devices from its claims to kubelet's checkpoints.
void add_node_steps(const tools::HostTree& tree, const PodFacts& facts, PodSteps& steps);
