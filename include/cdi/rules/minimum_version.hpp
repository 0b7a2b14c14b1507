// The CDI releases, and those that can hold a spec.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_MINIMUM_VERSION_HPP
#define CDI_RULES_MINIMUM_VERSION_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/model/release.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Every release of the CDI specification, oldest first. 0.1.0 and 0.2.0 are known, but older than
/// any spec needs. SPEC.md, Released versions.
inline constexpr std::array<Release, 10> known_releases{{
    {0, 1, 0},
    {0, 2, 0},
    {0, 3, 0},
    {0, 4, 0},
    {0, 5, 0},
    {0, 6, 0},
    {0, 7, 0},
    {0, 8, 0},
    {1, 0, 0},
    {1, 1, 0},
}};

/// The releases that a spec file can name: those from 0.3.0 on.
inline constexpr std::array<Release, known_releases.size() - 2> spec_releases = [] {
  std::array<Release, known_releases.size() - 2> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = known_releases[i + 2];
  return out;
}();
static_assert(spec_releases.front() == Release{} && spec_releases.back() == current_release);

/// The release that a `cdiVersion` names, with or without a leading `v`. Nothing when it is not one
/// of `known_releases`.
std::optional<Release> parse_release(std::string_view text);

namespace detail {

/// The names of `spec_releases`, separated by commas, for messages.
std::string spec_release_names();

}  // namespace detail

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
