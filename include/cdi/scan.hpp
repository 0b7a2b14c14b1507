// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SCAN_HPP
#define CDI_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/read_options.hpp>
#include <cdi/registry.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Reads the spec files of directories, given from the lowest priority to the highest. What cannot
/// be read costs only itself and is told in the registry's errors; a directory that is missing is
/// no error. Never null. Costs one read of every file, and, for files changed just now that are not
/// valid, a wait of `ReadOptions::patience` at most.
std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                               const ReadOptions& options = {});

}  // namespace cdi::inline CDI_ABI

#if CDI_BODIES
#include <cdi/impl/scan.hpp>
#endif

#endif  // CDI_SCAN_HPP
