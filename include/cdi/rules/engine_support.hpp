// How each release of containerd and CRI-O accepts requests for CDI devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_ENGINE_SUPPORT_HPP
#define CDI_RULES_ENGINE_SUPPORT_HPP

#include <array>
#include <cstdint>
#include <string_view>

#include <cdi/rules/engine_releases.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Whether a container engine injects CDI devices as it is installed.
enum class CdiSwitch : std::uint8_t {
  off,     ///< only after a setting: `enable_cdi = true` of containerd
  on,      ///< unless a setting turns it off
  always,  ///< there is no setting
};

/// How the versions of a container engine accept requests for CDI devices, from one version on.
struct EngineSupport {
  std::string_view engine;  ///< its name, as in `engine_releases`
  EngineVersion since;      ///< the first version; the next row of the engine ends it
  CdiSwitch cdi_switch;     ///< whether it is on
  bool field;               ///< the field `CDI_devices` of the CRI, besides annotations
  bool nri;                 ///< plugins of the Node Resource Interface may add devices
  std::string_view source;  ///< where this is known from
};

/// The engines that kubelet uses, by name and version. All versions listed accept annotations;
/// versions before the first row of their engine accept nothing.
inline constexpr std::array<EngineSupport, 8> engine_support{{
    {"containerd", {1, 7, 0}, CdiSwitch::off, false, false, "containerd 1.7.0: enable_cdi"},
    {"containerd", {1, 7, 2}, CdiSwitch::off, true, false, "containerd 1.7.2: CDIDevices"},
    {"containerd", {1, 7, 30}, CdiSwitch::off, true, true, "containerd/containerd#11675, 1.7.30"},
    {"containerd", {2, 0, 0}, CdiSwitch::on, true, false, "containerd 2.0: enable_cdi is true"},
    {"containerd", {2, 1, 0}, CdiSwitch::on, true, true, "containerd/containerd#11675, 2.1"},
    {"cri-o", {1, 23, 0}, CdiSwitch::always, false, false, "NVIDIA/gpu-operator#1285: CRI-O 1.23"},
    {"cri-o", {1, 27, 0}, CdiSwitch::always, true, false, "CRI-O 1.27: CDIDevices"},
    {"cri-o", {1, 34, 0}, CdiSwitch::always, true, true, "CRI-O 1.34: the NRI injector is set"},
}};

/// The row of `engine_support` for an engine; null when that version, or the engine, does not
/// accept requests for CDI devices.
constexpr const EngineSupport* find_engine_support(const VersionedEngine& engine) {
  const EngineSupport* found = nullptr;
  for (const auto& row : engine_support) {
    if (row.engine == engine.name && row.since <= engine.version) found = &row;
  }
  return found;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_ENGINE_SUPPORT_HPP
