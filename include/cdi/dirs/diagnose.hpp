// `diagnose`: searches ignored files and other directories for names that do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_DIAGNOSE_HPP
#define CDI_DIRS_DIAGNOSE_HPP

#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/fwd.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

struct SpecDir;

/// Returns directories that often contain specs but may not be searched by a runtime: directories
/// of the system, of the user's configuration and of the user's session, from `HOME`,
/// `XDG_CONFIG_HOME` and `XDG_RUNTIME_DIR`. They need not exist.
std::vector<std::string> usual_spec_dirs();

namespace detail {

/// Returns the existing directories of `dirs` that were not searched, whatever their paths.
std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
                                      const std::vector<std::string>& dirs);

}  // namespace detail

/// Returns why names do not resolve, as `Registry::unresolved` does. If no spec is known to define
/// a name, also reads what programs ignore in the searched directories (`ignored_specs`) and the
/// `other_dirs` that the registry did not search; a name found there has `Reason::ignored` or
/// `Reason::not_searched`. Keeps the order of `names`. Empty if all names resolve.
std::vector<Unresolved> diagnose(const Registry& registry, Names names,
                                 const std::vector<std::string>& other_dirs = usual_spec_dirs(),
                                 const ReadOptions& options = {});

}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/diagnose.inl>
#endif

#endif  // CDI_DIRS_DIAGNOSE_HPP
