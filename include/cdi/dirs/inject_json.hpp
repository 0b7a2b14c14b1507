// `inject_json`: injects devices into the text of an OCI `config.json`, in one call.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_INJECT_JSON_HPP
#define CDI_DIRS_INJECT_JSON_HPP

#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/fwd.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

// One function performs a whole injection. With CDI_COMPILED, this header is cheap to include.

namespace cdi::inline CDI_ABI {

/// Injects devices into the JSON text of an OCI spec, such as a `config.json`, all or none. Writes
/// only what the edits change: see `ConfigJson`. Each call reads the specs of `default_spec_dirs`.
///
/// Without names, the text is neither read nor changed. An error leaves the text unchanged. Fails
/// with the errors of `Registry::inject`, and with the errors of `parse_json` under the default
/// `Limits`, which include a line and a column. If you need another host or `ApplyOptions`, inject
/// into a `ConfigJson`.
Result<void> inject_json(std::string& config, Names names);

/// Injects with the specs of `dirs`, listed from the lowest priority to the highest.
Result<void> inject_json(std::string& config, Names names, const std::vector<std::string>& dirs);

/// Injects with the specs of a cache, for programs that inject more than once.
Result<void> inject_json(std::string& config, Names names, Cache& cache);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/inject_json.inl>
#endif

#endif  // CDI_DIRS_INJECT_JSON_HPP
