// The DRA service: prepares and unprepares the claims of pods.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "claims/node_claims.hpp"
#include "log.hpp"
#include "protocol/grpc_server.hpp"

namespace dra {

/// Adds the methods of both versions of the service. All arguments must outlive `methods`.
void add_claim_service(Methods& methods, NodeClaims& claims, const Log& log);

}  // namespace dra
