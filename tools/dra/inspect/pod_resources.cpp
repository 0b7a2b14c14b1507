// Asks the kubelet's PodResources service.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pod_resources.hpp"

#include <chrono>
#include <pod_resources.pb.h>

#include "../protocol/grpc_client.hpp"

namespace dra {

namespace {

PodClaim shown(const podresources::DynamicResource& claim) {
  PodClaim out{claim.claim_name(), claim.claim_namespace()};
  for (const auto& one : claim.claim_resources()) {
    auto& device = out.devices.emplace_back();
    for (const auto& name : one.cdi_devices()) device.cdi_devices.push_back({name.name()});
    device.driver = one.driver_name();
    device.pool = one.pool_name();
    device.device = one.device_name();
  }
  return out;
}

PodContainer shown(const podresources::ContainerResources& container) {
  PodContainer out{container.name()};
  for (const auto& one : container.devices()) {
    const auto& ids = one.device_ids();
    out.devices.push_back({one.resource_name(), {ids.begin(), ids.end()}});
  }
  for (const auto& claim : container.dynamic_resources()) out.claims.push_back(shown(claim));
  return out;
}

}  // namespace

cdi::Result<PodResourcesResult> pod_resources(const std::string& socket) {
  constexpr std::chrono::seconds patience{10};
  const auto listed = call_method<podresources::ListPodResourcesResponse>(
      socket, "/v1.PodResourcesLister/List", podresources::ListPodResourcesRequest{}, patience);
  if (!listed) return listed.error();
  PodResourcesResult out;
  for (const auto& pod : listed->pod_resources()) {
    auto& one = out.pods.emplace_back(ListedPod{pod.name(), pod.namespace_()});
    for (const auto& container : pod.containers()) one.containers.push_back(shown(container));
  }
  return out;
}

}  // namespace dra
