// Asks the kubelet's PodResources service.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP
#define CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP

#include <string>

#include <cdi/result.hpp>

#include "results.hpp"

namespace dra {

/// The answer of the service `List` at a socket. Errors as of `call_method`.
cdi::Result<PodResourcesResult> pod_resources(const std::string& socket);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP
