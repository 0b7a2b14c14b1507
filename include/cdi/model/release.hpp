// `Release`: the releases of the CDI specification.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_RELEASE_HPP
#define CDI_MODEL_RELEASE_HPP

#include <compare>
#include <cstdint>
#include <string>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A release of the CDI specification, ordered by number. The default is 0.3.0, the first that a
/// spec file can name. SPEC.md, Released versions.
struct Release {
  std::uint8_t major = 0;  ///< its first number
  std::uint8_t minor = 3;  ///< its second number
  std::uint8_t patch = 0;  ///< its third number

  friend constexpr auto operator<=>(const Release&, const Release&) = default;
};

/// A release as in `cdiVersion`, such as `0.5.0`.
std::string to_string(Release release);

/// The newest release of the CDI specification that the library knows. A spec of a newer release is
/// not valid.
inline constexpr Release current_release{1, 1, 0};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/release.inl>
#endif

#endif  // CDI_MODEL_RELEASE_HPP
