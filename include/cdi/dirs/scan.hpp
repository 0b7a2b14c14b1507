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

/// Reads the spec files of directories, given from the lowest priority to the highest. What cannot
/// be read costs only itself and is told in the registry's errors; a directory that is missing is
/// no error. Never null. Costs one read of every file, and, for files changed just now that are not
/// valid, a wait of `ReadOptions::patience` at most.
std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                               const ReadOptions& options = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/scan.hpp>
#endif

#endif  // CDI_DIRS_SCAN_HPP
