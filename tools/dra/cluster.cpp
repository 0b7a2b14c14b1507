// Connects a driver to the API server: reads claims, and publishes slices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "cluster.hpp"

#include <cstdlib>

#include <cdi/nlohmann/models.hpp>

#include "../kit/base/one_line.hpp"
#include "api_server/kubeconfig.hpp"
#include "protocol/grpc_server.hpp"

namespace dra {

cdi::Result<ApiAccess> access_to_api(const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return read_kubeconfig(kubeconfig);
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string{value == nullptr ? "" : value};
  };
  return in_cluster_access(variable("KUBERNETES_SERVICE_HOST"),
                           variable("KUBERNETES_SERVICE_PORT"));
}

void Cluster::set_given(std::set<std::string> devices) {
  const std::lock_guard lock{mutex_};
  if (given_ == devices) return;
  given_ = std::move(devices);
  publish();
}

DriverEvents Cluster::driver_events() {
  return {.registered = [this] { publisher_.registered(); },
          .surveyed = [this](const prepare::Survey& survey) { set_devices(survey); },
          .ending =
              [this] {
                http_.stop(GrpcServer::grace);
              }};
}

PublisherEvents Cluster::publisher_events() {
  return {.written =
              [this](const SlicesWritten& written) {
                log_.write({.event = "published",
                            .generation = written.generation,
                            .slices = static_cast<std::int64_t>(written.slices)});
                warn_of_features(written.features);
              },
          .failed =
              [this](const cdi::Error& error) {
                log_.write({.event = "warning", .error = tools::one_line(to_string(error))});
              }};
}

void Cluster::warn_of_features(const SliceFeatures& features) const {
  const auto warn = [this](std::string text) {
    log_.write({.event = "warning", .error = std::move(text)});
  };
  if (!features.taints) {
    warn("the API server keeps no taints, so devices that cannot be handed out are not published");
  }
  if (!features.counters) {
    warn("the API server keeps no shared counters, so only one way to each GPU is published");
  }
}

void Cluster::set_devices(const prepare::Survey& survey) {
  const std::lock_guard lock{mutex_};
  specs_ = prepare::slice_specs(survey, whose_);
  publish();
}

void Cluster::publish() {
  if (!specs_) return;
  std::vector<ApiJson> specs;
  for (auto spec : *specs_) {
    for (std::size_t i = 0; spec.devices && i < spec.devices->size(); ++i) {
      auto& device = (*spec.devices)[i];
      if (!given_.contains(device.name)) continue;
      device.taints.push_back({whose_.driver + "/given", "device-plugin"});
    }
    specs.push_back(cdi::to_json_value<ApiJson>(spec));
  }
  publisher_.set(std::move(specs));
}

}  // namespace dra
