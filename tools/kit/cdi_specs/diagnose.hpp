// `diagnose`: searches ignored files and other directories for names that do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/fwd.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/names.hpp>

namespace tools {

/// Returns directories that often contain specs but may not be searched by a runtime: directories
/// of the system, of the user's configuration and of the user's session, from `HOME`,
/// `XDG_CONFIG_HOME` and `XDG_RUNTIME_DIR`. They need not exist.
std::vector<std::string> usual_spec_dirs();

/// Returns the existing directories of `dirs` that were not searched, whatever their paths.
std::vector<std::string> not_searched(const std::vector<cdi::SpecDir>& searched,
                                      const std::vector<std::string>& dirs);

/// Returns why names do not resolve, as `Registry::unresolved` does. If no spec is known to define
/// a name, also reads what programs ignore in the searched directories (`ignored_specs`) and the
/// `other_dirs` that the registry did not search; a name found there has `Reason::ignored` or
/// `Reason::not_searched`. Keeps the order of `names`. Empty if all names resolve.
std::vector<cdi::Unresolved> diagnose(
    const cdi::Registry& registry, cdi::Names names,
    const std::vector<std::string>& other_dirs = usual_spec_dirs(),
    const cdi::ReadOptions& options = {});

}  // namespace tools
