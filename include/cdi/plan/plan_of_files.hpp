// `plan`: what an injection of devices would do, as data, with the lines of the edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_PLAN_OF_FILES_HPP
#define CDI_PLAN_PLAN_OF_FILES_HPP

#include <memory>

#include <cdi/base/result.hpp>
#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/host_options.hpp>
#include <cdi/plan/overlaps.hpp>  // IWYU pragma: export
#include <cdi/plan/plan.hpp>      // IWYU pragma: export
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Reads a spec file again to find the places of its members. Returns null when the file cannot be
/// read or has changed.
std::shared_ptr<const MemberPlaces> read_places(const LoadedSpec& spec);

}  // namespace detail

/// Returns the edits that an injection of these devices would make, joined, complete, and each with
/// its origin: see `Plan`. No OCI spec is needed, and nothing is changed.
///
/// Each name takes one lookup, each incomplete device node one host lookup, and each spec file one
/// read, for the lines of its edits. For a file that has changed since, or a spec from memory, the
/// edits take the line of their device, if it is known. With `ReadOptions::keep_places`, no file is
/// read. With a `HostWithOptions`, the plan includes what the options change. Errors are as in
/// `Registry::inject`.
template <HostLookup Host = SystemHost>
Result<Plan> plan(const Registry& registry, Names names, const Host& host = {}) {
  const auto devices = registry.resolve_all(names);
  if (!devices) return devices.error();
  const HostOptions* options = nullptr;
  if constexpr (requires { host.options; }) options = &host.options;
  return detail::make_plan(*devices, detail::AnyHost{host}, options, detail::read_places);
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/plan_of_files.inl>
#endif

#endif  // CDI_PLAN_PLAN_OF_FILES_HPP
