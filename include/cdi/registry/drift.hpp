// `find_drift`: device nodes of specs whose type or number the host no longer has.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_DRIFT_HPP
#define CDI_REGISTRY_DRIFT_HPP

#include <span>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

std::vector<Error> find_drift(std::span<const ResolvedDevice> devices, const AnyHost& host);

}  // namespace detail

/// The device nodes whose type or number is pinned in the spec and differs from that of the host,
/// with member and place: an `Errc::host` for each, in the order in which they would be applied.
/// Nodes that the host lacks are not among them. A path that is not a device node on the host is.
/// Costs one host lookup for each pinned node. `HostOptions::drift` decides what an injection does.
template <HostLookup Host = SystemHost>
std::vector<Error> find_drift(std::span<const ResolvedDevice> devices, const Host& host = {}) {
  return detail::find_drift(devices, detail::AnyHost{host});
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/drift.inl>
#endif

#endif  // CDI_REGISTRY_DRIFT_HPP
