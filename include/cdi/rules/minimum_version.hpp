// The CDI releases that can hold a spec.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_MINIMUM_VERSION_HPP
#define CDI_RULES_MINIMUM_VERSION_HPP

#include <string>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/model/release.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/rules/known_releases.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The releases that have everything that a document uses: from `release` on, before `until`; and
/// the members that decide it.
struct ReleaseNeed {
  Release release{};                 ///< the oldest that has everything; 0.3.0 at least
  std::string where{};               ///< the member that needs `release`; empty when none does
  Release until = Lifetime::never;   ///< the first that lacks a member used
  std::string until_where{};         ///< the member that `until` lacks; empty when there is none
  std::string_view until_instead{};  ///< what to write instead of that member from then on
};

/// The CDI releases that can hold a spec, and the members that decide it. The field lists decide,
/// and two rules on values: from 0.5.0, device names may begin with a digit; from 0.6.0, classes
/// may have dots. The `cdiVersion` of the spec is ignored. Costs one pass.
///
/// Storages beside `Owning` and `Borrowed` need `<cdi/rules/minimum_version.inl>` too when
/// `CDI_COMPILED` is defined.
template <Storage S>
ReleaseNeed minimum_need(const BasicSpec<S>& spec);

/// The oldest CDI release that can hold a spec: `to_string` of it is a valid `cdiVersion`.
template <Storage S>
Release minimum_version(const BasicSpec<S>& spec) {
  return minimum_need(spec).release;
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/minimum_version.inl>
#endif

#endif  // CDI_RULES_MINIMUM_VERSION_HPP
