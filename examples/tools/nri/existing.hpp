// Containers that run already, and have requested devices in vain.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_EXISTING_HPP
#define CDI_TOOLS_NRI_EXISTING_HPP

#include <functional>
#include <map>
#include <nri.pb.h>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "injection.hpp"

namespace nri {

/// The devices that a container has requested and has nothing of, with the reason if there is one.
struct LackingDevices {
  std::vector<std::string> names{};
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

  /// The requesting pod of a container that runs or will run; null if there is none.
  const PodSandbox* pod_of(const Container& container) const {
    const auto found = pods_.find(container.pod_sandbox_id());
    const bool exists =
        container.state() == CONTAINER_RUNNING || container.state() == CONTAINER_CREATED;
    return exists && found != pods_.end() ? &found->second : nullptr;
  }

 private:
  std::map<std::string, PodSandbox, std::less<>> pods_{};
};

namespace detail {

/// Whether a container has any edit of the devices: the adjustment for it is then smaller than that
/// for a container without any.
inline bool has_any(const Container& container, std::span<const cdi::ResolvedDevice> devices,
                    const Surroundings& around) {
  Container bare;
  *bare.mutable_user() = container.user();
  ContainerAdjustment rest;
  ContainerAdjustment whole;
  const bool written =
      give_edits(container, devices, around, rest) && give_edits(bare, devices, around, whole);
  return !written || size_of(rest) < size_of(whole) || size_of(whole) == 0;
}

}  // namespace detail

/// Returns what a container of a requesting pod lacks; nothing if it has any of its devices.
inline std::optional<LackingDevices> lacking_devices(const PodSandbox& pod,
                                                     const Container& container,
                                                     const Surroundings& around) {
  LackingDevices lacking;
  const auto requested = requested_devices(pod, container, around);
  if (!requested) {
    lacking.why = requested.error();
    return lacking;
  }
  for (const auto& device : *requested) lacking.names.push_back(device.name);
  const auto registry = around.cache->snapshot();
  const auto devices = registry->resolve_all(*requested);
  if (!devices) {
    lacking.why = devices.error();
    return lacking;
  }
  if (devices->empty() || detail::has_any(container, *devices, around)) return std::nullopt;
  return lacking;
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_EXISTING_HPP
