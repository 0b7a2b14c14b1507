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

/// Directories where specs are put that a runtime may not search: those of the system, of the
/// user's configuration and of the user's session, from `HOME`, `XDG_CONFIG_HOME` and
/// `XDG_RUNTIME_DIR`. Whether they are there is not looked at.
std::vector<std::string> usual_spec_dirs();

namespace detail {

/// The directories of `dirs` that are there, and not among those searched, whatever their paths.
std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
                                      const std::vector<std::string>& dirs);

std::vector<Unresolved> diagnose_any(const Registry& registry, AnyNames names,
                                     const std::vector<std::string>& other_dirs,
                                     const ReadOptions& options);

}  // namespace detail

/// Why names are not resolved: those of `Registry::unresolved`, and for what no spec is known of, a
/// look into those of `other_dirs` that the registry did not search: what is found there has
/// `Reason::not_searched`. In the order given; empty when all names are resolved. Costs a read of
/// all files there, when there is such a name.
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
