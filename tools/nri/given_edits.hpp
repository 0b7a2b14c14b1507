// Finds the devices that a container already has from its runtime or another plugin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_GIVEN_EDITS_HPP
#define CDI_TOOLS_NRI_GIVEN_EDITS_HPP

#include <algorithm>
#include <nri.pb.h>
#include <span>
#include <string>

#include <cdi/host.hpp>
#include <cdi/registry.hpp>

#include "adjustment.hpp"

namespace nri {

/// Whether a container has any edit of the devices; true if it cannot be told.
inline bool has_any(const Container& container, std::span<const cdi::ResolvedDevice> devices,
                    const RuntimeFacts& runtime, const cdi::HostWithOptions<>& host) {
  AdjustedContainer target{container, runtime};
  return !cdi::Registry::inject_resolved(target, devices, host) || target.refusal ||
         target.has_some || target.adjustment.ByteSizeLong() == 0;
}

/// Whether a container has all edits of a device that each version of NRI shows; false if its spec
/// has them all, as they may come from another device. The owner and the mode of a node may differ:
/// not every runtime tells of the user. With a node of its own, the names of variables are enough:
/// another device may have changed the values.
inline bool has_device(const Container& container, const cdi::ResolvedDevice& device,
                       const cdi::HostWithOptions<>& host) {
  const auto& own = device.device->container_edits;
  const bool is_shown =
      !own.env.empty() || !own.device_nodes.empty() || !own.mounts.empty() || !own.hooks.empty();
  const auto bare = without_variables(container);
  AdjustedContainer target{bare};
  if (!is_shown || !cdi::Registry::inject_resolved(target, std::span{&device, 1}, host)) {
    return false;
  }
  const auto& lacks = target.adjustment;
  const auto has_node = [&container](const LinuxDevice& node) {
    const auto& nodes = container.linux().devices();
    return std::any_of(nodes.begin(), nodes.end(), [&node](const LinuxDevice& one) {
      return one.path() == node.path() && one.type() == node.type() &&
             one.major() == node.major() && one.minor() == node.minor();
    });
  };
  const auto has_variable = [&](const KeyValue& variable) {
    auto wanted = variable.key() + "=";
    if (own.device_nodes.empty()) wanted += variable.value();
    const auto& env = container.env();
    return std::any_of(env.begin(), env.end(), [&](const auto& entry) {
      return own.device_nodes.empty() ? entry == wanted : entry.starts_with(wanted);
    });
  };
  const auto& nodes = lacks.linux().devices();
  return lacks.mounts().empty() && !lacks.has_hooks() &&
         std::all_of(nodes.begin(), nodes.end(), has_node) &&
         std::all_of(lacks.env().begin(), lacks.env().end(), has_variable);
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_GIVEN_EDITS_HPP
