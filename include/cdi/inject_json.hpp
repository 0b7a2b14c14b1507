// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_INJECT_JSON_HPP
#define CDI_INJECT_JSON_HPP

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/any_names.hpp>
#include <cdi/fwd.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

// The whole of an injection behind one function. With CDI_COMPILED it costs little to include, and
// names no type of another library.

namespace cdi::inline CDI_ABI {

namespace detail {

/// `dirs` is null for those that runtimes read.
Result<void> inject_json_from(const std::vector<std::string>* dirs, std::string& config,
                              AnyNames names);
Result<void> inject_json_with(Cache& cache, std::string& config, AnyNames names);

}  // namespace detail

/// Injects devices into an OCI spec that is JSON text, as a `config.json` is: all or none. The text
/// is written anew: members keep their order and numbers their value, one value a line when it was
/// so before, with the same indentation. The specs are those of `default_spec_dirs`, read at each
/// call.
///
/// Errors leave the text as it was: those of `Registry::inject`, and `Errc::syntax`, with line and
/// column, when the text is not JSON.
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

/// The same with the specs of a cache, for whoever injects more than once.
template <class Names>
Result<void> inject_json(std::string& config, const Names& names, Cache& cache) {
  return detail::inject_json_with(cache, config, detail::AnyNames{names});
}
/// The same for names in braces.
inline Result<void> inject_json(std::string& config, std::initializer_list<std::string_view> names,
                                Cache& cache) {
  return detail::inject_json_with(cache, config, detail::AnyNames{names});
}

}  // namespace cdi::inline CDI_ABI

#if CDI_BODIES
#include <cdi/impl/inject_json.hpp>
#endif

#endif  // CDI_INJECT_JSON_HPP
