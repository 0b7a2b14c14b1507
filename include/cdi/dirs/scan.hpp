// `scan_spec_dirs`: reads spec directories once, without a cache.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_SCAN_HPP
#define CDI_DIRS_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Reads the spec files of directories, given from the lowest priority to the highest. A file or
/// directory that cannot be read affects only its own devices, and is reported in the errors of the
/// registry; a missing directory is not an error. Never null. Reads each file once; waits up to
/// `ReadOptions::patience` for files that have just been changed and are not valid.
std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                               const ReadOptions& options = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/scan.hpp>
#endif

#endif  // CDI_DIRS_SCAN_HPP
