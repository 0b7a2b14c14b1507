// Prints the list of the kubelet's PodResources service as JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pod_resources.hpp"

#include <chrono>
#include <pod_resources.pb.h>

#include "../protocol/grpc_client.hpp"

namespace dra {

namespace {

prepare::Json json_of(const podresources::DynamicResource& claim) {
  auto resources = prepare::Json::array();
  for (const auto& one : claim.claim_resources()) {
    auto names = prepare::Json::array();
    for (const auto& device : one.cdi_devices()) names.push_back({{"name", device.name()}});
    resources.push_back({{"cdiDevices", names},
                         {"driverName", one.driver_name()},
                         {"poolName", one.pool_name()},
                         {"deviceName", one.device_name()}});
  }
  return {{"claimName", claim.claim_name()},
          {"claimNamespace", claim.claim_namespace()},
          {"claimResources", resources}};
}

prepare::Json json_of(const podresources::ContainerResources& container) {
  auto devices = prepare::Json::array();
  for (const auto& one : container.devices()) {
    auto ids = prepare::Json::array();
    for (const auto& id : one.device_ids()) ids.push_back(id);
    devices.push_back({{"resourceName", one.resource_name()}, {"deviceIds", ids}});
  }
  auto claims = prepare::Json::array();
  for (const auto& claim : container.dynamic_resources()) claims.push_back(json_of(claim));
  return {{"name", container.name()}, {"devices", devices}, {"dynamicResources", claims}};
}

}  // namespace

cdi::Result<prepare::Json> pod_resources(const std::string& socket) {
  constexpr std::chrono::seconds patience{10};
  const auto listed = call_method<podresources::ListPodResourcesResponse>(
      socket, "/v1.PodResourcesLister/List", podresources::ListPodResourcesRequest{}, patience);
  if (!listed) return listed.error();
  auto pods = prepare::Json::array();
  for (const auto& pod : listed->pod_resources()) {
    auto containers = prepare::Json::array();
    for (const auto& one : pod.containers()) containers.push_back(json_of(one));
    pods.push_back(
        {{"name", pod.name()}, {"namespace", pod.namespace_()}, {"containers", containers}});
  }
  return prepare::Json{{"podResources", pods}};
}

}  // namespace dra
