// Prints the list of the kubelet's PodResources service as JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP
#define CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP

#include <string>

#include <nlohmann/json.hpp>

#include <cdi/result.hpp>

#include "../../gpu/base/json_output.hpp"

namespace dra {

/// The answer of the service `List` at a socket, in the JSON form of its messages, which `cdi-pod
/// podresources` reads. Errors as of `call_method`.
cdi::Result<prepare::Json> pod_resources(const std::string& socket);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_INSPECT_POD_RESOURCES_HPP
