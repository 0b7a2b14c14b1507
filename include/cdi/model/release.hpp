// `Release`: a release of the CDI specification.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_RELEASE_HPP
#define CDI_MODEL_RELEASE_HPP

#include <compare>
#include <cstdint>
#include <string>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A release of the CDI specification, ordered by number. The default is 0.3.0, the oldest release
/// that a spec file can name. SPEC.md, Released versions.
struct Release {
  std::uint8_t major = 0;  ///< the first number
  std::uint8_t minor = 3;  ///< the second number
  std::uint8_t patch = 0;  ///< the third number

  friend constexpr auto operator<=>(const Release&, const Release&) = default;
};

/// Formats a release as in `cdiVersion`, such as `0.5.0`.
std::string to_string(Release release);

/// The newest CDI release known to the library. A spec of a newer release is invalid.
inline constexpr Release current_release{1, 1, 0};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/release.inl>
#endif

#endif  // CDI_MODEL_RELEASE_HPP
