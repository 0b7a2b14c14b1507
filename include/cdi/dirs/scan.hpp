// `scan_spec_dirs`, `scan_spec_dirs_for`: read spec directories once, without a cache.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_SCAN_HPP
#define CDI_DIRS_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns the directories that runtimes read: `/etc/cdi`, and `/var/run/cdi` with higher priority.
std::vector<std::string> default_spec_dirs();

/// Reads the spec files of directories, listed from the lowest priority to the highest. An
/// unreadable file or directory affects only its own devices; the registry's errors report it. A
/// missing directory is not an error. Never returns null. Reads each file once, and waits up to
/// `ReadOptions::retry_window` for files that have just changed and are invalid.
std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                               const ReadOptions& options = {});

/// Reads spec files for a program that needs only the devices of certain names, for example for a
/// single injection: `scan_spec_dirs_for(names)->inject(config, names)`. The names resolve to the
/// same devices, or cause the same errors, as after `scan_spec_dirs`. A file whose bytes rule out
/// the requested kinds is not parsed if all names resolve without it; the registry then contains
/// neither its devices nor its errors.
std::shared_ptr<const Registry> scan_spec_dirs_for(
    Names names, const std::vector<std::string>& paths = default_spec_dirs(),
    const ReadOptions& options = {});

}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/scan.inl>
#endif

#endif  // CDI_DIRS_SCAN_HPP
