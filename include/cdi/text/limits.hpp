// `Limits`: how long, how deep and how large a JSON or YAML text may be.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_LIMITS_HPP
#define CDI_TEXT_LIMITS_HPP

#include <cstddef>
#include <cstdint>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Limits for a text. A text that exceeds a limit is rejected at once, with `Errc::limit`. Parsing
/// uses at most ten times the text's size, plus `expansion` and 128 KiB; a text that needs more
/// memory is rejected, and so is a text whose model and document together would need more than ten
/// times the text's size plus 4 MiB. `DocumentBuilder` checks the limits, which are the same
/// for JSON and YAML.
struct Limits {
  std::size_t bytes = std::size_t{16} << 20;  ///< text size, capped at 512 MiB - 1
  /// The maximum nesting of lists and maps. A CDI spec needs 6 levels; each level uses stack space.
  std::uint32_t depth = 64;
  /// The maximum number of values of all kinds, including keys and values repeated by YAML aliases.
  std::uint32_t values = 2'000'000;
  /// The bytes that YAML aliases and merge keys may add: repeated texts, and 32 per value. Ten
  /// times the text's size is always allowed, within the memory limit.
  std::size_t expansion = std::size_t{4} << 20;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// The maximum number of errors that a function for every error of a text or spec returns.
inline constexpr std::size_t max_errors = 1000;

}  // namespace cdi

#endif  // CDI_TEXT_LIMITS_HPP
