// Connects a driver to the API server: reads claims, and publishes slices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../gpu/slices/resource_slices.hpp"
#include "../gpu/survey/survey.hpp"
#include "api_server/api_access.hpp"
#include "api_server/api_claims.hpp"
#include "api_server/api_error.hpp"
#include "api_server/http_client.hpp"
#include "api_server/resource_api.hpp"
#include "api_server/slice_publisher.hpp"
#include "api_server/slice_store.hpp"
#include "api_server/slice_writer.hpp"
#include "driver.hpp"
#include "log.hpp"

namespace dra {

/// API server access: from the kubeconfig if given, otherwise from this pod's service account.
cdi::Result<ApiAccess> access_to_api(const std::string& kubeconfig);

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
  void set_given(std::set<std::string> devices);

  /// The functions that the driver must call. Valid as long as this object.
  DriverEvents driver_events();

 private:
  PublisherEvents publisher_events();

  void warn_of_features(const SliceFeatures& features) const;

  /// A device that cannot be found now cannot be prepared either, even if it may be there.
  void set_devices(const prepare::Survey& survey);

  void publish();

  HttpClient http_;
  ResourceApi api_;
  const prepare::SliceOptions whose_;
  const Log& log_;
  ApiClaims claims_;
  std::mutex mutex_{};
  std::optional<std::vector<kubernetes::SliceSpec>> specs_{};  // nothing until the first survey
  std::set<std::string> given_{};
  SlicePublisher publisher_;
};

}  // namespace dra
