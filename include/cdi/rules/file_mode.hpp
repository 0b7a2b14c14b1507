// The permission bits of a file as octal text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_FILE_MODE_HPP
#define CDI_RULES_FILE_MODE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The permission bits of an octal text of at most five digits, at most 07777; nothing for another
/// text.
inline std::optional<std::uint32_t> parse_mode(std::string_view text) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  std::uint32_t mode = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    mode = mode * 8 + static_cast<std::uint32_t>(c - '0');
  }
  return mode <= 07777 ? std::optional{mode} : std::nullopt;
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_FILE_MODE_HPP
