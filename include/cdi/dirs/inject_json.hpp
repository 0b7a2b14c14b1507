// `inject_json`: injects devices into the text of an OCI `config.json`, in one call.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_INJECT_JSON_HPP
#define CDI_DIRS_INJECT_JSON_HPP

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/fwd.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/version.hpp>

// One function does a whole injection. With CDI_COMPILED it costs little to include.

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A null `dirs` means `default_spec_dirs`.
Result<void> inject_json_from(const std::vector<std::string>* dirs, std::string& config,
                              AnyNames names);
Result<void> inject_json_with(Cache& cache, std::string& config, AnyNames names);

}  // namespace detail

/// Injects devices into the JSON text of an OCI spec, such as a `config.json`, all or none. Only
/// what the edits change is written: see `ConfigJson`. The specs are those of `default_spec_dirs`,
/// read at each call.
///
/// Without names, the text is neither read nor changed. After an error, it is unchanged. Errors are
/// those of `Registry::inject`, and those of `parse_json` with its default `Limits`, with line and
/// column. A program that needs another host or `ApplyOptions` injects into a `ConfigJson`.
template <class Names>
Result<void> inject_json(std::string& config, const Names& names) {
  return detail::inject_json_from(nullptr, config, detail::AnyNames{names});
}
/// The same for names in braces.
inline Result<void> inject_json(std::string& config,
                                std::initializer_list<std::string_view> names) {
  return detail::inject_json_from(nullptr, config, detail::AnyNames{names});
}

/// The same with the specs of other directories, given from the lowest priority to the highest.
template <class Names>
Result<void> inject_json(std::string& config, const Names& names,
                         const std::vector<std::string>& dirs) {
  return detail::inject_json_from(&dirs, config, detail::AnyNames{names});
}
/// The same for names in braces.
inline Result<void> inject_json(std::string& config, std::initializer_list<std::string_view> names,
                                const std::vector<std::string>& dirs) {
  return detail::inject_json_from(&dirs, config, detail::AnyNames{names});
}

/// The same with the specs of a cache, for programs that inject more than once.
template <class Names>
Result<void> inject_json(std::string& config, const Names& names, Cache& cache) {
  return detail::inject_json_with(cache, config, detail::AnyNames{names});
}
/// The same for names in braces.
inline Result<void> inject_json(std::string& config, std::initializer_list<std::string_view> names,
                                Cache& cache) {
  return detail::inject_json_with(cache, config, detail::AnyNames{names});
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/inject_json.hpp>
#endif

#endif  // CDI_DIRS_INJECT_JSON_HPP
