// The bodies of <cdi/rules/known_releases.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_KNOWN_RELEASES_INL
#define CDI_RULES_KNOWN_RELEASES_INL

#include <optional>
#include <string>
#include <string_view>

#include <cdi/model/release.hpp>
#include <cdi/rules/known_releases.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::optional<Release> parse_release(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  for (const Release release : known_releases) {
    if (cdi::to_string(release) == text) return release;
  }
  return std::nullopt;
}

namespace detail {

CDI_INLINE std::string spec_release_names() {
  std::string names;
  for (const Release release : spec_releases) {
    names.append(names.empty() ? "" : ", ").append(cdi::to_string(release));
  }
  return names;
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_KNOWN_RELEASES_INL
