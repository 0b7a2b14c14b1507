// ResourceClaims from the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../claims/claim_source.hpp"
#include "../claims/resource_claim.hpp"
#include "http_client.hpp"
#include "resource_api.hpp"

namespace dra {

/// The ResourceClaims of an API server. Each call reads the claim as it is now; a batch sends one
/// request for each claim on one connection, and a failure does not affect other claims. A batch
/// waits no longer than one request may, because the kubelet waits for all its claims.
class ApiClaims : public ClaimSource {
 public:
  /// `api` must outlive this object.
  ApiClaims(ResourceApi& api, std::string driver) : api_{api}, driver_{std::move(driver)} {}

  cdi::Result<ResourceClaim> get(const ClaimName& name, Deadline deadline) override {
    const auto text = api_.claim(name.name_space, name.name, deadline);
    if (!text) return text.error();
    auto claim =
        parse_resource_claim(*text, driver_, "ResourceClaim " + name.name_space + "/" + name.name);
    if (!claim) return claim;
    return check_uid(std::move(*claim), name);
  }

  std::vector<cdi::Result<ResourceClaim>> get_all(const std::vector<ClaimName>& names,
                                                  Deadline deadline) override {
    const auto latest = Deadline::clock::now() + HttpClient::longest;
    return ClaimSource::get_all(names, std::min<Deadline>(deadline, latest));
  }

 private:
  ResourceApi& api_;
  std::string driver_;
};

}  // namespace dra
