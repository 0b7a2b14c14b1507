// `SpecVersion`: a version of the CDI specification.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_SPEC_VERSION_HPP
#define CDI_MODEL_SPEC_VERSION_HPP

#include <compare>
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

}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/spec_version.inl>
#endif

#endif  // CDI_MODEL_SPEC_VERSION_HPP
