// `inner`: writes the annotations that Kata passes to a guest for its VFIO devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "answer.hpp"

// kata-containers 7c6ba40. runtime-rs: crates/resource/src/cdi_devices/container_device.rs;
// runtime-go: virtcontainers/container.go, siblingAnnotation.

namespace pod {

/// The annotations of the guest's container. runtime-rs keeps existing annotations; runtime-go
/// removes CDI annotations, which are meant for the host. For runtime-go, `siblings` in the input
/// lists the sandbox's devices: first on root ports, then on switch ports. Without `siblings`,
/// `devices` is used. Devices with one containerPath are of one VFIO group.
Answer answer_inner(const cdi::Document& input, bool go);

}  // namespace pod
