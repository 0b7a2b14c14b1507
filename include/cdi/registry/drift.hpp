// `find_drift`: finds device nodes of specs whose type or number has changed on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_DRIFT_HPP
#define CDI_REGISTRY_DRIFT_HPP

#include <span>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

std::vector<Error> find_drift(std::span<const ResolvedDevice> devices, const HostRef& host);

}  // namespace detail

/// Returns an `Errc::host` error, with its member and place, for each device node whose pinned type
/// or number differs from the host's, in the order of injection. Nodes that the host lacks are
/// ignored; a path that is not a device node on the host is reported. Costs one host lookup for
/// each pinned node. `HostOptions::drift` decides how an injection handles such nodes.
template <HostLookup Host = SystemHost>
std::vector<Error> find_drift(std::span<const ResolvedDevice> devices, const Host& host = {}) {
  return detail::find_drift(devices, detail::HostRef{host});
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/drift.inl>
#endif

#endif  // CDI_REGISTRY_DRIFT_HPP
