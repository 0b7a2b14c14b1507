// `scan_spec_dirs`, `scan_spec_dirs_for`: read spec directories once, without a cache.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_SCAN_HPP
#define CDI_DIRS_SCAN_HPP

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/registry.hpp>
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

namespace detail {

std::shared_ptr<const Registry> scan_for_names(AnyNames names,
                                               const std::vector<std::string>& paths,
                                               const ReadOptions& options);

}  // namespace detail

/// The same for a program that asks only for the devices of some names. The registry resolves these
/// names to the same devices, or has the same errors, as that of `scan_spec_dirs`. A file whose
/// bytes show that it is of another kind is not parsed if all names resolve without it; the
/// registry then has neither its devices nor its errors.
template <class Names>
std::shared_ptr<const Registry> scan_spec_dirs_for(const Names& names,
                                                   const std::vector<std::string>& paths,
                                                   const ReadOptions& options = {}) {
  return detail::scan_for_names(detail::AnyNames{names}, paths, options);
}
/// The same for names in braces.
inline std::shared_ptr<const Registry> scan_spec_dirs_for(
    std::initializer_list<std::string_view> names, const std::vector<std::string>& paths,
    const ReadOptions& options = {}) {
  return detail::scan_for_names(detail::AnyNames{names}, paths, options);
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/scan.hpp>
#endif

#endif  // CDI_DIRS_SCAN_HPP
