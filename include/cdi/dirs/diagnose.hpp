// `diagnose`: why names are not resolved, with a search of other directories.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_DIAGNOSE_HPP
#define CDI_DIRS_DIAGNOSE_HPP

#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/fwd.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

struct SpecDir;

/// Directories that often hold specs, but that a runtime may not search: those of the system, of
/// the configuration of the user and of the session of the user, from `HOME`, `XDG_CONFIG_HOME` and
/// `XDG_RUNTIME_DIR`. They need not exist.
std::vector<std::string> usual_spec_dirs();

namespace detail {

/// The directories of `dirs` that exist and are not among those searched, whatever their paths.
std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
                                      const std::vector<std::string>& dirs);

}  // namespace detail

/// Why names are not resolved: the result of `Registry::unresolved`. If no spec with a name is
/// known, what programs ignore in the searched directories (`ignored_specs`) is read, and those of
/// `other_dirs` that the registry did not search; a name that is found there has `Reason::ignored`
/// or `Reason::not_searched`. In the order given; empty if all names are resolved.
std::vector<Unresolved> diagnose(const Registry& registry, Names names,
                                 const std::vector<std::string>& other_dirs = usual_spec_dirs(),
                                 const ReadOptions& options = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/diagnose.inl>
#endif

#endif  // CDI_DIRS_DIAGNOSE_HPP
