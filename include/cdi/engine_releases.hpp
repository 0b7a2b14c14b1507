// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_RELEASES_HPP
#define CDI_ENGINE_RELEASES_HPP

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/fields.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The version of a container engine, ordered by number.
struct EngineVersion {
  std::uint32_t major = 0;  ///< its first number
  std::uint32_t minor = 0;  ///< its second number
  std::uint32_t patch = 0;  ///< its third number

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a pointer here
  friend constexpr auto operator<=>(const EngineVersion&, const EngineVersion&) = default;
};

/// A version as engines write it: `4.9.3`.
inline std::string to_string(EngineVersion version) {
  std::string out = std::to_string(version.major);
  out.append(".").append(std::to_string(version.minor));
  out.append(".").append(std::to_string(version.patch));
  return out;
}

/// Since which version an engine reads specs of a CDI release, and of all before it.
struct EngineRelease {
  std::string_view engine;  ///< its name in lower case: `podman`
  EngineVersion since;      ///< the first version that this is said of, up to the engine's next row
  Release newest;           ///< the newest release that it reads
  std::string_view source;  ///< how that is known
};

/// What is known of engines: those of one name together, each by version. Engines read with the CDI
/// project's Go library, whose release `0.x.y` reads specs up to `0.x.0`, and 1.0.1 up to 1.0.0.
/// Between two rows an engine may read more than the older says, never less.
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

namespace detail {

inline Error unknown_engine(std::string_view name) {
  std::string message = "engine " + detail::quoted(name) + " is not known here: use one of";
  std::string_view last;
  for (const auto& row : engine_releases) {
    if (row.engine != last) message.append(1, ' ').append(row.engine);
    last = row.engine;
  }
  return {.code = Errc::not_found, .message = std::move(message)};
}

/// The first row of an engine; null when it has none.
inline const EngineRelease* first_row_of(std::string_view engine) {
  for (const auto& row : engine_releases) {
    if (row.engine == engine) return &row;
  }
  return nullptr;
}

}  // namespace detail

/// The version that a text is: `4.9.3`, `v4.9.3`, `4.9` for 4.9.0, `4` for 4.0.0. What a
/// distribution appends, such as `+ds1-1`, is left out. Nothing for all other texts.
inline std::optional<EngineVersion> parse_engine_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  EngineVersion version;
  bool more = true;
  for (auto* part : {&version.major, &version.minor, &version.patch}) {
    if (!more) break;
    if (!detail::take_number(text, *part)) return std::nullopt;
    more = text.starts_with('.');
    if (more) text.remove_prefix(1);
  }
  const bool ended =
      text.empty() || std::string_view{"+-~"}.find(text[0]) != std::string_view::npos;
  return !more && ended ? std::optional{version} : std::nullopt;
}

/// A container engine of some version.
struct VersionedEngine {
  std::string_view name;    ///< as in `engine_releases`; not copied
  EngineVersion version{};  ///< which one

  friend bool operator==(const VersionedEngine&, const VersionedEngine&) = default;
};

/// An engine as people write it: `podman 4.9.3`.
inline std::string to_string(const VersionedEngine& engine) {
  return std::string{engine.name}.append(" ").append(to_string(engine.version));
}

/// The engine that a text such as `podman@4.9.3` names; `podman@4.9` is 4.9.0, and a `v` before the
/// version counts for nothing. Its name is that of the table.
/// `Errc::not_found` for engines not known here; `Errc::invalid` for what is no version.
inline Result<VersionedEngine> parse_engine(std::string_view engine_at_version) {
  const auto at = engine_at_version.find('@');
  const auto name = engine_at_version.substr(0, at);
  const auto* const row = detail::first_row_of(name);
  if (row == nullptr) return detail::unknown_engine(name);
  const auto text =
      at == std::string_view::npos ? std::string_view{} : engine_at_version.substr(at + 1);
  const auto version = cdi::parse_engine_version(text);
  if (version) return VersionedEngine{row->engine, *version};
  return Error{.code = Errc::invalid,
               .message = detail::quoted(engine_at_version) +
                          " is no version of an engine: write it like podman@4.9.3"};
}

/// The newest CDI release that an engine is known to read. A version newer than the last known one
/// reads what that reads.
/// `Errc::not_found` for engines not known here, and for versions older than the first known to
/// read specs.
inline Result<Release> newest_release_for(const VersionedEngine& engine) {
  const auto* const first = detail::first_row_of(engine.name);
  if (first == nullptr) return detail::unknown_engine(engine.name);
  if (engine.version < first->since) {
    return Error{.code = Errc::not_found,
                 .message = to_string(engine) + " is older than " + to_string(first->since) +
                            ", the first version known to read CDI specs"};
  }
  Release newest = first->newest;
  for (const auto& row : engine_releases) {
    if (row.engine == engine.name && row.since <= engine.version) newest = row.newest;
  }
  return newest;
}

/// The same for a text such as `podman@4.9.3`; its errors are also those of `parse_engine`.
inline Result<Release> newest_release_for(std::string_view engine_at_version) {
  const auto engine = cdi::parse_engine(engine_at_version);
  if (!engine) return engine.error();
  return cdi::newest_release_for(*engine);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_ENGINE_RELEASES_HPP
