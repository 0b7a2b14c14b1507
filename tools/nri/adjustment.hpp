// The adjustment that gives an NRI container devices, and whether it has them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <nri.pb.h>
#include <span>

#include <cdi/apply/host_options.hpp>
#include <cdi/registry.hpp>

#include "runtime_facts.hpp"

namespace nri {

/// The adjustment that gives a container what it lacks of devices. Fails with `Errc::unsupported`
/// for edits that NRI, or this runtime's NRI, cannot express, with the place of the first edits to
/// which this happens by themselves.
cdi::Result<ContainerAdjustment> adjustment_for(const Container& container,
                                                std::span<const cdi::ResolvedDevice> devices,
                                                const RuntimeFacts& runtime,
                                                const cdi::HostWithOptions<>& host);

/// Whether a container has any edit of the devices; true if it cannot be told.
bool has_any(const Container& container, std::span<const cdi::ResolvedDevice> devices,
             const RuntimeFacts& runtime, const cdi::HostWithOptions<>& host);

/// Whether a container has all edits of a device that each version of NRI shows; false if its spec
/// has them all, as they may come from another device. The owner and the mode of a node may differ:
/// not every runtime tells of the user. With a node of its own, the names of variables are enough:
/// another device may have changed the values.
bool has_device(const Container& container, const cdi::ResolvedDevice& device,
                const cdi::HostWithOptions<>& host);

}  // namespace nri
