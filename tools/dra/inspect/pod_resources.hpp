// Asks the kubelet's PodResources service.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <cdi/result.hpp>

#include "results.hpp"

namespace dra {

/// The answer of the service `List` at a socket. Errors as of `call_method`.
cdi::Result<PodResourcesResult> pod_resources(const std::string& socket);

}  // namespace dra
