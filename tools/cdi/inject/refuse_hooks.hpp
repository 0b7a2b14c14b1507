// `cdi inject --hooks refuse`; see `without_hooks.hpp` for `replace`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <cdi/cdi.hpp>
#include <cdi/nvidia.hpp>

#include "../base/output.hpp"

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

/// The error of `--hooks refuse` for a hook.
inline cdi::Error rejection_of(const DeviceHook& one) {
  const auto& kind = one.spec->spec.kind;
  const auto owner = one.device != nullptr ? cdi::qualified_name(kind, one.device->name)
                                           : fmt::format("every device of {}", kind);
  const auto id = cdi::classify_hook(cdi::command_of(*one.hook));
  return {
      .code = cdi::Errc::denied,
      .message = fmt::format("--hooks refuse: {} has the hook {} of class {} at {}", owner,
                             cdi::quoted(one.hook->path), hook_class_name(id), one.hook->hook_name),
      .where = one.where,
      .position = one.spec->locate(one.where)};
}

/// Reports the hooks of the devices, with their places in the files. Returns whether there are any.
inline bool report_hooks(std::span<const cdi::ResolvedDevice> devices, const Output& output) {
  const auto hooks = hooks_of(devices);
  const auto reported = std::min(hooks.size(), cdi::max_warnings);
  for (const auto& hook : std::span{hooks}.first(reported)) output.error(rejection_of(hook));
  if (reported < hooks.size()) {
    output.error({.message = fmt::format("--hooks refuse: the devices have {} more hooks",
                                         hooks.size() - reported)});
  }
  return !hooks.empty();
}
