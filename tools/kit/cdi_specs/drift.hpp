// `find_drift`: finds device nodes of specs whose type or number has changed on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <span>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/registry/loaded_spec.hpp>

namespace tools {

/// Returns an `Errc::host` error, with its member and place, for each device node whose pinned type
/// or number differs from the host's, in the order of injection. Nodes that the host lacks are
/// ignored; a path that is not a device node on the host is reported. Costs one host lookup for
/// each pinned node. `HostOptions::drift` decides how an injection handles such nodes.
std::vector<cdi::Error> find_drift(std::span<const cdi::ResolvedDevice> devices,
                                   const cdi::detail::HostRef& host = cdi::detail::HostRef{
                                       cdi::SystemHost{}});

}  // namespace tools
