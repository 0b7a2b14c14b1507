// `diagnose`: why names are not resolved, with a search of other directories.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_DIAGNOSE_HPP
#define CDI_DIRS_DIAGNOSE_HPP

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/fwd.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/unresolved.hpp>
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

std::vector<Unresolved> diagnose_any(const Registry& registry, AnyNames names,
                                     const std::vector<std::string>& other_dirs,
                                     const ReadOptions& options);

}  // namespace detail

/// Why names are not resolved: the result of `Registry::unresolved`. If no spec with a name is
/// known, what programs ignore in the searched directories (`ignored_specs`) is read, and those of
/// `other_dirs` that the registry did not search; a name that is found there has `Reason::ignored`
/// or `Reason::not_searched`. In the order given; empty if all names are resolved.
template <class Names>
std::vector<Unresolved> diagnose(const Registry& registry, const Names& names,
                                 const std::vector<std::string>& other_dirs = usual_spec_dirs(),
                                 const ReadOptions& options = {}) {
  return detail::diagnose_any(registry, detail::AnyNames{names}, other_dirs, options);
}
/// The same for names in braces.
inline std::vector<Unresolved> diagnose(
    const Registry& registry, std::initializer_list<std::string_view> names,
    const std::vector<std::string>& other_dirs = usual_spec_dirs(),
    const ReadOptions& options = {}) {
  return detail::diagnose_any(registry, detail::AnyNames{names}, other_dirs, options);
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/diagnose.hpp>
#endif

#endif  // CDI_DIRS_DIAGNOSE_HPP
