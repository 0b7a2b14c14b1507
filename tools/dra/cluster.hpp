// Connects a driver to the API server: reads claims, and publishes slices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLUSTER_HPP
#define CDI_TOOLS_DRA_CLUSTER_HPP

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../gpu/slices/resource_slices.hpp"
#include "../gpu/survey/survey.hpp"
#include "../kit/base/one_line.hpp"
#include "api_server/api_access.hpp"
#include "api_server/api_claims.hpp"
#include "api_server/api_error.hpp"
#include "api_server/http_client.hpp"
#include "api_server/kubeconfig.hpp"
#include "api_server/resource_api.hpp"
#include "api_server/slice_publisher.hpp"
#include "api_server/slice_store.hpp"
#include "api_server/slice_writer.hpp"
#include "driver.hpp"
#include "log.hpp"
#include "protocol/grpc_server.hpp"

namespace dra {

/// API server access: from the kubeconfig if given, otherwise from this pod's service account.
inline cdi::Result<ApiAccess> access_to_api(const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return read_kubeconfig(kubeconfig);
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string{value == nullptr ? "" : value};
  };
  return in_cluster_access(variable("KUBERNETES_SERVICE_HOST"),
                           variable("KUBERNETES_SERVICE_PORT"));
}

/// The API server as a driver uses it.
class Cluster {
 public:
  /// `log` must outlive this object.
  Cluster(ApiAccess access, prepare::SliceOptions whose, const Log& log)
      : http_{std::move(access)},
        api_{http_},
        whose_{std::move(whose)},
        log_{log},
        claims_{api_, whose_.driver},
        publisher_{SliceWriter{SliceStore{api_, whose_}}, publisher_events()} {}

  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Ends requests first, because the publisher waits for its own.
  ~Cluster() { http_.stop(); }

  ClaimSource& claims() { return claims_; }

  /// The devices that pods have from the device plugin. They get a taint, so that no claim gets
  /// them. Any thread may call it.
  void set_given(std::set<std::string> devices) {
    const std::lock_guard lock{mutex_};
    if (given_ == devices) return;
    given_ = std::move(devices);
    publish();
  }

  /// The functions that the driver must call. Valid as long as this object.
  DriverEvents driver_events() {
    return {.registered = [this] { publisher_.registered(); },
            .surveyed = [this](const prepare::Survey& survey) { set_devices(survey); },
            .ending =
                [this] {
                  http_.stop(GrpcServer::grace);
                }};
  }

 private:
  PublisherEvents publisher_events() {
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

  void warn_of_features(const SliceFeatures& features) const {
    const auto warn = [this](std::string text) {
      log_.write({.event = "warning", .error = std::move(text)});
    };
    if (!features.taints) {
      warn(
          "the API server keeps no taints, so devices that cannot be handed out are not published");
    }
    if (!features.counters) {
      warn("the API server keeps no shared counters, so only one way to each GPU is published");
    }
  }

  /// A device that cannot be found now cannot be prepared either, even if it may be there.
  void set_devices(const prepare::Survey& survey) {
    const std::lock_guard lock{mutex_};
    specs_.emplace();
    for (auto& spec : prepare::slice_specs(survey, whose_)) specs_->emplace_back(std::move(spec));
    publish();
  }

  void publish() {
    if (!specs_) return;
    auto specs = *specs_;
    for (auto& spec : specs) {
      const auto devices = spec.find("devices");
      if (devices == spec.end()) continue;
      for (auto& device : *devices) {
        if (!given_.contains(device.value("name", ""))) continue;
        device["taints"].push_back({{"key", whose_.driver + "/given"},
                                    {"value", "device-plugin"},
                                    {"effect", "NoSchedule"}});
      }
    }
    publisher_.set(std::move(specs));
  }

  HttpClient http_;
  ResourceApi api_;
  const prepare::SliceOptions whose_;
  const Log& log_;
  ApiClaims claims_;
  std::mutex mutex_{};
  std::optional<std::vector<ApiJson>> specs_{};  // nothing until the first survey
  std::set<std::string> given_{};
  SlicePublisher publisher_;
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLUSTER_HPP
