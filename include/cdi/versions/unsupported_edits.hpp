// `unsupported_edits`: the edits that a runtime would ignore or reject.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VERSIONS_UNSUPPORTED_EDITS_HPP
#define CDI_VERSIONS_UNSUPPORTED_EDITS_HPP

#include <span>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/oci/features.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns the devices' edits that a runtime with these features does not implement: an
/// `Errc::unsupported` for each, with member and place, in the order of application. Most runtimes
/// silently ignore them. Such edits are hooks at an unknown point, unknown options of bind mounts,
/// net devices, and Intel RDT settings.
///
/// Edits that the features do not mention are not reported, except members that are newer than
/// `ociVersionMax`. Other mounts may pass their options to the file system, and are not checked.
/// `read_json<oci::Features>` reads the output of `runc features`.
std::vector<Error> unsupported_edits(std::span<const ResolvedDevice> devices,
                                     const oci::Features& features);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/unsupported_edits.inl>
#endif

#endif  // CDI_VERSIONS_UNSUPPORTED_EDITS_HPP
