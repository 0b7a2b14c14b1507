// Profiles: how containers use a GPU, for compute, graphics or video.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../kit/cdi_specs/recorded_options.hpp"

namespace prepare {

/// A set of compute, graphics and video: for files and nodes, the uses that need them; for a spec,
/// the uses that it supports.
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

/// Whether specs for some profiles must contain a node. A server without a screen lacks the modeset
/// node, so only `graphics` alone requires that node.
constexpr bool is_needed(Profiles of_node, Profiles requested) {
  return of_node == graphics ? requested == graphics : of_node.shares(requested);
}

/// The set for a name on the command line.
constexpr Profiles profiles_named(std::string_view name) {
  constexpr std::array<Profiles, tools::profile_names.size()> sets{compute, graphics, video,
                                                                   all_profiles};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (tools::profile_names[i] == name) return sets[i];
  }
  return all_profiles;
}

}  // namespace prepare
