// The hooks of devices, and their places in the spec files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_HOOKS_DEVICE_HOOKS_HPP
#define CDI_TOOLS_CDI_HOOKS_DEVICE_HOOKS_HPP

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/cdi.hpp>
#include <cdi/nvidia.hpp>

/// A hook of a device, or of all devices of a spec.
struct DeviceHook {
  const cdi::LoadedSpec* spec = nullptr;
  const cdi::Device* device = nullptr;  // null: of all devices
  const cdi::Hook* hook = nullptr;
  std::string where{};  // the path in the spec
};

/// The hooks of devices and of their specs. The specs must outlive this list.
inline std::vector<DeviceHook> hooks_of(std::span<const cdi::ResolvedDevice> devices) {
  std::vector<DeviceHook> hooks;
  std::set<const void*> seen;  // specs and devices
  const auto add = [&](const cdi::ResolvedDevice& found, const cdi::ContainerEdits& edits,
                       const cdi::Device* device, const std::string& outer) {
    for (std::size_t i = 0; i < edits.hooks.size(); ++i) {
      hooks.push_back({found.spec, device, &edits.hooks[i],
                       fmt::format("{}containerEdits.hooks[{}]", outer, i)});
    }
  };
  for (const auto& found : devices) {
    if (seen.insert(found.spec).second) add(found, found.spec->spec.container_edits, nullptr, "");
    if (!seen.insert(found.device).second) continue;
    add(found, found.device->container_edits, found.device,
        fmt::format("devices[{}].", found.index()));
  }
  return hooks;
}

/// Finds the device hook from which a hook in a config was made.
class HookSearch {
 public:
  explicit HookSearch(const std::vector<DeviceHook>& hooks) {
    for (const auto& one : hooks) {
      places_.try_emplace({one.hook->hook_name, one.hook->path, one.hook->args}, one);
    }
  }

  /// The first device hook from which this hook was made; null if there is none.
  const DeviceHook* find(cdi::oci::HookPoint point, const cdi::oci::Hook& hook) const {
    const auto found = places_.find({std::string{hook_point_name(point)}, hook.path, hook.args});
    return found == places_.end() ? nullptr : &found->second;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;
  std::map<Key, DeviceHook> places_{};
};

#endif  // CDI_TOOLS_CDI_HOOKS_DEVICE_HOOKS_HPP
