// ResourceClaims from the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_API_SERVER_API_CLAIMS_HPP
#define CDI_TOOLS_DRA_API_SERVER_API_CLAIMS_HPP

#include <string>
#include <utility>

#include <cdi/result.hpp>

#include "../claims/claim_source.hpp"
#include "../claims/resource_claim.hpp"
#include "resource_api.hpp"

namespace dra {

/// The ResourceClaims of an API server. Each call reads the claim as it is now; a batch sends one
/// request for each claim on one connection, and the failure of one does not affect the others.
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

 private:
  ResourceApi& api_;
  std::string driver_;
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_API_SERVER_API_CLAIMS_HPP
