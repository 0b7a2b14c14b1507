// The DRA service: prepares and unprepares the claims of pods.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIM_SERVICE_HPP
#define CDI_TOOLS_DRA_CLAIM_SERVICE_HPP

#include "claims/node_claims.hpp"
#include "log.hpp"
#include "protocol/grpc_server.hpp"

namespace dra {

/// Adds the methods of both versions of the service. All arguments must outlive `methods`.
void add_claim_service(Methods& methods, NodeClaims& claims, const Log& log);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIM_SERVICE_HPP
