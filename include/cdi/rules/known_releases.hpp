// The releases of the CDI specification that the library knows.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_KNOWN_RELEASES_HPP
#define CDI_RULES_KNOWN_RELEASES_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/model/release.hpp>
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

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/known_releases.inl>
#endif

#endif  // CDI_RULES_KNOWN_RELEASES_HPP
