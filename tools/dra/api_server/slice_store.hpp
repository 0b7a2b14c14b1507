// The ResourceSlices of a driver on a node, in the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../gpu/slices/resource_slices.hpp"
#include "api_error.hpp"
#include "http_client.hpp"
#include "resource_api.hpp"
#include "slice_plan.hpp"

namespace dra {

/// Why a request failed. The status is 0 without an answer.
struct ApiFailure {
  cdi::Error error{};
  long status = 0;
  std::optional<std::chrono::seconds> retry_after{};
};

/// The ResourceSlices of a driver on a node.
class SliceStore {
 public:
  /// `api` must outlive this object.
  SliceStore(ResourceApi& api, prepare::SliceOptions whose) : api_{api}, whose_{std::move(whose)} {}

  /// Lists the slices. The list is never older than the server's last answer to a write, because
  /// the request has no resource version.
  std::optional<ApiFailure> list(std::vector<ExistingSlice>& out);

  /// Makes a change. The UID of the node is for slices without an owner. `kept` becomes the spec
  /// that the server has now; null if the slice is removed.
  std::optional<ApiFailure> apply(const SliceChange& change, const std::string& node_uid,
                                  ApiJson& kept);

  /// The failure has no status, because it does not concern the slices.
  std::optional<ApiFailure> node_uid(std::string& out);

 private:
  static HttpClient::Deadline deadline();

  static std::optional<ApiFailure> failure_in(const std::string& what,
                                              const cdi::Result<HttpAnswer>& answer);

  static ApiJson owners_in(ApiJson& metadata);

  /// Nullopt if the object is not a slice, or if its name would lead to another object.
  static std::optional<ExistingSlice> slice_in(ApiJson object);

  HttpRequest request_for(const SliceChange& change, const std::string& node_uid,
                          const std::string& version) const;

  static ApiJson delete_options(const ExistingSlice& slice);

  /// The slices go with the node.
  ApiJson metadata(const ExistingSlice& slice, const std::string& node_uid) const;

  static std::string text_of(const ApiJson& object);

  ResourceApi& api_;
  prepare::SliceOptions whose_;
};

}  // namespace dra
