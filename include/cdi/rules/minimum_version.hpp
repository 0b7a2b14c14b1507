// The CDI versions that can express a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_MINIMUM_VERSION_HPP
#define CDI_RULES_MINIMUM_VERSION_HPP

#include <optional>
#include <string>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns the version that a `cdiVersion` names, with or without a leading `v`, or `nullopt` if
/// `known_versions` does not contain it.
std::optional<SpecVersion> parse_spec_version(std::string_view text);

namespace detail {

/// Returns the names of `spec_versions`, separated by commas, for messages.
std::string spec_version_names();

}  // namespace detail

/// The versions that define everything in a document: from `version` up to, but not including,
/// `until`. Also lists the members that limit this range.
struct VersionNeed {
  SpecVersion version{};  ///< the oldest version that defines everything; at least 0.3.0
  std::string where{};    ///< the member that needs `version`, or empty
  SpecVersion until = Lifetime::never;  ///< the first version that lacks a used member
  std::string until_where{};            ///< the member that `until` lacks, or empty
  std::string_view until_instead{};     ///< the replacement for that member in `until`
};

/// Returns the CDI versions that can express a spec, and the members that limit them. Considers
/// the field lists, and two rules for values: device names may begin with a digit since 0.5.0, and
/// classes may contain dots since 0.6.0. The spec's `cdiVersion` is ignored. Costs one pass.
///
/// With `CDI_COMPILED`, storages other than `Owning` and `Borrowed` also need
/// `<cdi/rules/minimum_version.inl>`.
template <Storage S>
VersionNeed minimum_need(const BasicSpec<S>& spec);

/// Returns the oldest CDI version that can express a spec; `to_string` makes it a `cdiVersion`.
template <Storage S>
SpecVersion minimum_version(const BasicSpec<S>& spec) {
  return minimum_need(spec).version;
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/minimum_version.inl>
#endif

#endif  // CDI_RULES_MINIMUM_VERSION_HPP
