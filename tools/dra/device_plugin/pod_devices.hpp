// Reads from the kubelet which devices pods have.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <pod_resources.pb.h>
#include <set>
#include <string>
#include <vector>

#include <cdi/result.hpp>

#include "../protocol/grpc_client.hpp"

namespace dra {

/// The devices that containers have, of any device plugin. Errors as of `call_method`.
inline cdi::Result<std::set<std::string>> devices_of_pods(const std::string& socket) {
  constexpr std::chrono::seconds patience{5};
  const auto listed = call_method<podresources::ListPodResourcesResponse>(
      socket, "/v1.PodResourcesLister/List", podresources::ListPodResourcesRequest{}, patience);
  if (!listed) return listed.error();
  std::set<std::string> out;
  for (const auto& pod : listed->pod_resources()) {
    for (const auto& container : pod.containers()) {
      for (const auto& devices : container.devices()) {
        out.insert(devices.device_ids().begin(), devices.device_ids().end());
      }
    }
  }
  return out;
}

/// Decides which devices are free again. The kubelet tells a device plugin what it gives to a pod,
/// but not when the pod ends. It lists the devices of pods, but new ones only after some time, and
/// none at all while it starts. So a device is free once no pod has had it for a while.
class Absence {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Absence(Clock::duration least) : least_{least} {}

  /// Starts over, because the kubelet restarted or does not answer.
  void forget() { since_.clear(); }

  /// Starts over for one device.
  void forget(const std::string& device) { since_.erase(device); }

  /// The devices of `given` that are free, after the kubelet listed those in use.
  std::vector<std::string> freed(const std::set<std::string>& given,
                                 const std::set<std::string>& in_use, Clock::time_point now) {
    std::vector<std::string> out;
    std::erase_if(since_, [&](const auto& one) {
      return !given.contains(one.first) || in_use.contains(one.first);
    });
    for (const auto& device : given) {
      if (in_use.contains(device)) continue;
      const auto since = since_.emplace(device, now).first->second;
      if (now - since >= least_) out.push_back(device);
    }
    return out;
  }

 private:
  const Clock::duration least_;
  std::map<std::string, Clock::time_point> since_{};
};

}  // namespace dra
