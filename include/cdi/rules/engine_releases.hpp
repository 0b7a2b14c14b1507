// The newest CDI release that each release of containerd, CRI-O, podman and others reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_ENGINE_RELEASES_HPP
#define CDI_RULES_ENGINE_RELEASES_HPP

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The version of a container engine, ordered by number.
struct EngineVersion {
  std::uint32_t major = 0;  ///< its first number
  std::uint32_t minor = 0;  ///< its second number
  std::uint32_t patch = 0;  ///< its third number

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a pointer here
  friend constexpr auto operator<=>(const EngineVersion&, const EngineVersion&) = default;
};

/// A version as engines write it: `4.9.3`.
std::string to_string(EngineVersion version);

/// The first version of an engine that reads specs of a CDI release, and of all before it.
struct EngineRelease {
  std::string_view engine;  ///< its name in lower case: `podman`
  EngineVersion since;  ///< the first version of the row, which ends at the next row of the engine
  Release newest;       ///< the newest release that it reads
  std::string_view source;  ///< where this is known from
};

/// The known engines, by name and version. Engines read with the CDI project's Go library, whose
/// release `0.x.y` reads specs up to `0.x.0`, and 1.0.1 up to 1.0.0. Between two rows an engine may
/// read more than the older row says, never less.
inline constexpr std::array<EngineRelease, 23> engine_releases{{
    {"containerd", {1, 7, 0}, {0, 5, 0}, "go.mod of v1.7.0: library 0.5.4"},
    {"containerd", {1, 7, 16}, {0, 7, 0}, "go.mod of v1.7.16: library 0.7.2"},
    {"containerd", {1, 7, 29}, {0, 8, 0}, "go.mod of v1.7.29: library 0.8.1"},
    {"containerd", {2, 0, 0}, {0, 8, 0}, "go.mod of v2.0.0: library 0.8.0"},
    {"containerd", {2, 0, 5}, {1, 0, 0}, "go.mod of v2.0.5 to v2.0.11: library 1.0.0"},
    {"containerd", {2, 1, 0}, {1, 0, 0}, "go.mod of v2.1.0: library 1.0.1"},
    {"containerd", {2, 2, 1}, {1, 1, 0}, "go.mod of v2.2.1 and v2.3.0: library 1.1.0"},
    {"cri-o", {1, 27, 0}, {0, 5, 0}, "cri-o/cri-o#6711: library 0.5.4, March 2023"},
    {"cri-o", {1, 30, 0}, {0, 6, 0}, "cncf-tags/container-device-interface#176: library 0.6.2"},
    {"cri-o", {1, 31, 0}, {0, 8, 0}, "go.mod of v1.31 and v1.32: library 0.8.0"},
    {"cri-o", {1, 33, 0}, {1, 0, 0}, "go.mod of v1.33 and v1.34: library 1.0.1"},
    {"cri-o", {1, 35, 0}, {1, 1, 0}, "go.mod of v1.35: library 1.1.0"},
    {"docker", {25, 0, 0}, {0, 6, 0}, "moby/moby#45933: library 0.6.0, July 2023"},
    {"docker", {27, 0, 0}, {0, 7, 0}, "moby/moby#47706; vendor.mod of 27.x: library 0.7.2"},
    {"docker", {28, 0, 0}, {0, 8, 0}, "moby/moby#48886: backport to 27.x of library 0.8.0"},
    {"docker", {29, 0, 0}, {1, 0, 0}, "moby/moby#49738: library 1.0.1, April 2025"},
    {"podman", {4, 1, 0}, {0, 3, 0}, "containers/podman#13852: library 0.3.2, April 2022"},
    {"podman", {4, 2, 0}, {0, 4, 0}, "NVIDIA/nvidia-container-toolkit#38: library 0.4.0"},
    {"podman",
     {4, 3, 0},
     {0, 5, 0},
     "Debian 12, podman 4.3.1: library 0.5.2; taken for all of 4.3"},
    {"podman", {4, 8, 0}, {0, 6, 0}, "containers/podman#20558, cri-o/cri-o#7466: library 0.6.2"},
    {"podman", {5, 1, 0}, {0, 7, 0}, "containers/podman#22280: CDI 0.7.0, in 5.1"},
    {"podman", {5, 3, 0}, {0, 8, 0}, "go.mod at 00027bc251e2, August 2024: library 0.8.0"},
    {"podman", {5, 8, 0}, {1, 1, 0}, "podman 5.8: library 1.1.0"},
}};

/// The version in a text: `4.9.3`, `v4.9.3`, `4.9` for 4.9.0, `4` for 4.0.0. The suffix of a
/// distribution, such as `+ds1-1`, is ignored. Nothing for all other texts.
std::optional<EngineVersion> parse_engine_version(std::string_view text);

/// A container engine of some version.
struct VersionedEngine {
  std::string_view name;    ///< as in `engine_releases`; not copied
  EngineVersion version{};  ///< which one

  friend bool operator==(const VersionedEngine&, const VersionedEngine&) = default;
};

/// An engine as people write it: `podman 4.9.3`.
std::string to_string(const VersionedEngine& engine);

/// The engine that a text such as `podman@4.9.3` names; `podman@4.9` is 4.9.0, and a `v` before the
/// version is ignored. `name` is that of the table. `Errc::not_found` for engines that are not in
/// the table; `Errc::invalid` for a text that is not a version.
Result<VersionedEngine> parse_engine(std::string_view engine_at_version);

/// The newest CDI release that an engine is known to read. A version newer than the last known one
/// reads the same. `Errc::not_found` for engines that are not in the table, and for versions older
/// than the first known to read specs.
Result<Release> newest_release_for(const VersionedEngine& engine);

/// The same for a text such as `podman@4.9.3`; its errors are also those of `parse_engine`.
Result<Release> newest_release_for(std::string_view engine_at_version);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/engine_releases.hpp>
#endif

#endif  // CDI_RULES_ENGINE_RELEASES_HPP
