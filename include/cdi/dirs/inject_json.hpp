// `inject_json`: injects devices into the text of an OCI `config.json`, in one call.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_INJECT_JSON_HPP
#define CDI_DIRS_INJECT_JSON_HPP

#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/fwd.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

// One function does a whole injection. With CDI_COMPILED it costs little to include.

namespace cdi {
inline namespace CDI_ABI {

/// Injects devices into the JSON text of an OCI spec, such as a `config.json`, all or none. Only
/// what the edits change is written: see `ConfigJson`. The specs are those of `default_spec_dirs`,
/// read at each call.
///
/// Without names, the text is neither read nor changed. After an error, it is unchanged. Errors are
/// those of `Registry::inject`, and those of `parse_json` with its default `Limits`, with line and
/// column. A program that needs another host or `ApplyOptions` injects into a `ConfigJson`.
Result<void> inject_json(std::string& config, Names names);

/// Injects with the specs of other directories, given from the lowest priority to the highest.
Result<void> inject_json(std::string& config, Names names, const std::vector<std::string>& dirs);

/// Injects with the specs of a cache, for programs that inject more than once.
Result<void> inject_json(std::string& config, Names names, Cache& cache);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/inject_json.inl>
#endif

#endif  // CDI_DIRS_INJECT_JSON_HPP
