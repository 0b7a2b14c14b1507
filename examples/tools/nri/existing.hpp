// Containers that run already, and have requested devices in vain.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_EXISTING_HPP
#define CDI_TOOLS_NRI_EXISTING_HPP

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "injection.hpp"

namespace nri {

/// A container that has requested devices and has nothing of them, with the reason if there is one.
struct WithoutDevices {
  const PodSandbox* pod = nullptr;
  std::vector<std::string> devices{};
  std::optional<cdi::Error> why{};
};

/// The pods that request devices, out of all that exist.
class RequestingPods {
 public:
  /// Keeps a pod that requests devices, without its other annotations: there may be thousands.
  void add(const PodSandbox& pod, const AnnotationFamilies& families) {
    PodSandbox kept;
    for (const auto& [key, value] : pod.annotations()) {
      if (is_request(key, families)) (*kept.mutable_annotations())[key] = value;
    }
    if (kept.annotations().empty()) return;
    kept.set_id(pod.id());
    kept.set_name(pod.name());
    kept.set_namespace_(pod.namespace_());
    pods_.insert_or_assign(pod.id(), std::move(kept));
  }

  /// Returns what a container lacks; nothing if it has any of its devices, or does not run.
  std::optional<WithoutDevices> without_devices(const Container& container,
                                                const Surroundings& around) const {
    const auto found = pods_.find(container.pod_sandbox_id());
    const bool exists =
        container.state() == CONTAINER_RUNNING || container.state() == CONTAINER_CREATED;
    if (found == pods_.end() || !exists) return std::nullopt;
    WithoutDevices lacking{.pod = &found->second};
    const auto requested = requested_devices(found->second, container, around);
    if (!requested) {
      lacking.why = requested.error();
      return lacking;
    }
    for (const auto& device : *requested) lacking.devices.push_back(device.name);
    const auto registry = around.cache->snapshot();
    const auto devices = registry->resolve_all(*requested);
    if (!devices) {
      lacking.why = devices.error();
      return lacking;
    }
    if (devices->empty() || has_any(container, *devices, around)) return std::nullopt;
    return lacking;
  }

 private:
  /// Whether a container has any edit of the devices: the adjustment for it is then smaller than
  /// that for a container without any.
  static bool has_any(const Container& container, std::span<const cdi::ResolvedDevice> devices,
                      const Surroundings& around) {
    Container bare;
    *bare.mutable_user() = container.user();
    ContainerAdjustment rest;
    ContainerAdjustment whole;
    const bool written =
        give_edits(container, devices, around, rest) && give_edits(bare, devices, around, whole);
    return !written || size_of(rest) < size_of(whole) || size_of(whole) == 0;
  }

  std::map<std::string, PodSandbox, std::less<>> pods_{};
};

}  // namespace nri

#endif  // CDI_TOOLS_NRI_EXISTING_HPP
