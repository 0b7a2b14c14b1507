// `strategy`: how NVIDIA's gpu-operator configures nodes, and whether that reaches their GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "answer.hpp"

// NVIDIA/gpu-operator a22dbf6 (v26.7.0): controllers/state_manager.go, object_controls.go;
// api/nvidia/v1/clusterpolicy_types.go. The defaults of 23.3 to 25.3 are from their values.yaml.

namespace pod {

/// The gpu-operator configuration for nodes with these runtimes.
Answer answer_strategy(const cdi::Document& input);

}  // namespace pod
