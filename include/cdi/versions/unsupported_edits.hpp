// `unsupported_edits`: the edits that a runtime would ignore or refuse.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_UNSUPPORTED_EDITS_HPP
#define CDI_VERSIONS_UNSUPPORTED_EDITS_HPP

#include <span>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/oci/features.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The edits of devices that a runtime with these features does not implement, with member and
/// place: an `Errc::unsupported` for each, in the order in which they would be applied. Most
/// runtimes ignore them without a word. They are hooks of a point that it lacks, options of bind
/// mounts that it does not know, net devices, and settings of Intel RDT.
///
/// What the features leave open is not reported, except members that are newer than
/// `ociVersionMax`. Options of other mounts are not checked: they may be for the file system.
/// `read_json<oci::Features>` reads what `runc features` prints.
std::vector<Error> unsupported_edits(std::span<const ResolvedDevice> devices,
                                     const oci::Features& features);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/unsupported_edits.inl>
#endif

#endif  // CDI_VERSIONS_UNSUPPORTED_EDITS_HPP
