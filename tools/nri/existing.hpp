// Finds running containers that did not get the devices they requested.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <map>
#include <nri.pb.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adjustment.hpp"
#include "injection.hpp"

namespace nri {

/// The devices that a container requested and did not get.
struct LackingDevices {
  std::vector<std::string> names{};
  std::optional<cdi::Error> why{};  ///< why it cannot be told whether it has them, if so
};

/// The pods and containers that exist when the plugin connects. A runtime with many of them sends
/// several parts, and a container may come before its pod.
class ExistingPods {
 public:
  /// Called with a container that runs or will run, and its pod, which requests devices.
  using Report = std::function<void(const PodSandbox&, const Container&)>;

  /// Keeps a pod that requests devices, without its other annotations: there may be thousands.
  void add(const PodSandbox& pod, const AnnotationFamilies& families) {
    PodSandbox kept;
    for (const auto& [key, value] : pod.annotations()) {
      if (is_request(key, families)) (*kept.mutable_annotations())[key] = value;
    }
    auto& known = pods_[pod.id()];
    if (kept.annotations().empty()) return;
    kept.set_id(pod.id());
    kept.set_name(pod.name());
    kept.set_namespace_(pod.namespace_());
    known = std::move(kept);
  }

  /// Reports a container, unless its pod is not known yet.
  void add(const Container& container, const Report& report) {
    if (container.state() != CONTAINER_RUNNING && container.state() != CONTAINER_CREATED) return;
    const auto found = pods_.find(container.pod_sandbox_id());
    if (found == pods_.end()) {
      early_.push_back(container);
    } else if (found->second) {
      report(*found->second, container);
    }
  }

  /// Reports the containers that came before their pods, and forgets everything.
  void end(const Report& report) {
    for (const auto& container : early_) {
      const auto found = pods_.find(container.pod_sandbox_id());
      if (found != pods_.end() && found->second) report(*found->second, container);
    }
    *this = {};
  }

 private:
  std::map<std::string, std::optional<PodSandbox>, std::less<>> pods_{};  // null: requests nothing
  std::vector<Container> early_{};
};

/// Returns what a container of a requesting pod lacks, or why that is unknown; nothing if it has
/// any of its devices.
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
  if (devices->empty() || has_any(container, *devices, around.runtime, host_of(around.settings))) {
    return std::nullopt;
  }
  return lacking;
}

}  // namespace nri
