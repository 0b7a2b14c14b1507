// `scan_spec_dirs`, `scan_spec_dirs_for`: read spec directories once, without a cache.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_SCAN_HPP
#define CDI_DIRS_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The directories that runtimes read: `/etc/cdi`, and `/var/run/cdi` with the higher priority.
std::vector<std::string> default_spec_dirs();

/// Reads the spec files of directories, given from the lowest priority to the highest. A file or
/// directory that cannot be read affects only its own devices, and is reported in the errors of the
/// registry; a missing directory is not an error. Never null. Reads each file once; waits up to
/// `ReadOptions::patience` for files that have just been changed and are not valid.
std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                               const ReadOptions& options = {});

/// Reads the spec files for a program that needs only the devices of some names, as one that
/// injects once: `scan_spec_dirs_for(names)->inject(config, names)`. These names resolve to the
/// same devices, or give the same errors, as after `scan_spec_dirs`. A file whose bytes show that
/// it is of another kind is not parsed if all names resolve without it; the registry then has
/// neither its devices nor its errors.
std::shared_ptr<const Registry> scan_spec_dirs_for(
    Names names, const std::vector<std::string>& paths = default_spec_dirs(),
    const ReadOptions& options = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/scan.inl>
#endif

#endif  // CDI_DIRS_SCAN_HPP
