// `make_registry`: makes a registry from the texts of specs in memory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_MAKE_REGISTRY_HPP
#define CDI_FILES_MAKE_REGISTRY_HPP

#include <string>
#include <vector>

#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The text of a spec that does not come from a file.
struct SpecText {
  std::string
      name{};  ///< replaces the path in messages; YAML gets a warning if the name ends in .json
  std::string text{};  ///< JSON or YAML
  int priority = 0;    ///< as for a spec directory: the higher priority wins
};

/// Makes a registry from specs in memory, for programs that create specs or receive them from
/// elsewhere. Devices, conflicts, errors and reasons are the same as for files with these names and
/// texts. Only the `options` that `parse_spec` lists have an effect. To add a `Spec` instead of a
/// text, validate it and pass it in a `LoadedSpec` to the constructor of `Registry`.
///
/// Never fails: `Registry::errors` lists the errors of all texts. Costs one pass over each text.
Registry make_registry(std::vector<SpecText> texts, const ReadOptions& options = {});

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/make_registry.inl>
#endif

#endif  // CDI_FILES_MAKE_REGISTRY_HPP
