// What containers do with a GPU: compute, graphics, video.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_PROFILE_HPP
#define CDI_PREPARE_GPU_PROFILE_HPP

#include <cstdint>
#include <string_view>
#include <utility>

namespace prepare {

/// A set of compute, graphics and video. Files and nodes have the set that needs them, a spec the
/// set that it is for.
struct Profiles {
  std::uint8_t bits = 0;

  constexpr bool shares(Profiles other) const { return (bits & other.bits) != 0; }

  friend constexpr Profiles operator|(Profiles a, Profiles b) {
    return {static_cast<std::uint8_t>(a.bits | b.bits)};
  }
  friend constexpr bool operator==(Profiles, Profiles) = default;
};

inline constexpr Profiles compute{1};
inline constexpr Profiles graphics{2};
inline constexpr Profiles video{4};
inline constexpr Profiles all_profiles = compute | graphics | video;

/// Whether specs for some profiles must have a node of others. A server without a screen has no
/// node for display modes, so only `graphics` alone needs that node.
constexpr bool is_needed(Profiles of_node, Profiles asked) {
  return of_node == graphics ? asked == graphics : of_node.shares(asked);
}

/// The names of sets on the command line.
inline constexpr std::pair<std::string_view, Profiles> profile_names[] = {
    {"compute", compute}, {"graphics", graphics}, {"video", video}, {"all", all_profiles}};

/// The set of a name.
constexpr Profiles profiles_named(std::string_view name) {
  for (const auto& [known, set] : profile_names) {
    if (known == name) return set;
  }
  return all_profiles;
}

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_PROFILE_HPP
