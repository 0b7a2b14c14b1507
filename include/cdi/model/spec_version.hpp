// `SpecVersion`: a version of the CDI specification, and the versions that there are.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_SPEC_VERSION_HPP
#define CDI_MODEL_SPEC_VERSION_HPP

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A version of the CDI specification, ordered by number. The default is 0.3.0, the oldest version
/// that a spec file can name. SPEC.md, Released versions.
struct SpecVersion {
  std::uint8_t major = 0;  ///< the first number
  std::uint8_t minor = 3;  ///< the second number
  std::uint8_t patch = 0;  ///< the third number

  friend constexpr auto operator<=>(const SpecVersion&, const SpecVersion&) = default;
};

/// Formats a version as in `cdiVersion`, such as `0.5.0`.
std::string to_string(SpecVersion version);

/// The newest CDI version known to the library. A spec of a newer version is invalid.
inline constexpr SpecVersion current_version{1, 1, 0};

/// Every version of the CDI specification, oldest first. 0.1.0 and 0.2.0 are listed, although no
/// spec can name them. SPEC.md, Released versions.
inline constexpr std::array<SpecVersion, 10> known_versions{{
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

/// The versions that a spec file can name: 0.3.0 and later.
inline constexpr std::array<SpecVersion, known_versions.size() - 2> spec_versions = [] {
  std::array<SpecVersion, known_versions.size() - 2> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = known_versions[i + 2];
  return out;
}();
static_assert(spec_versions.front() == SpecVersion{} && spec_versions.back() == current_version);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/spec_version.inl>
#endif

#endif  // CDI_MODEL_SPEC_VERSION_HPP
