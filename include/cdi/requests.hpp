// Devices that a container requests: in an OCI config, annotations, variables and the CRI field.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_HPP
#define CDI_REQUESTS_HPP

// IWYU pragma: begin_exports
#include <cdi/requests/annotations.hpp>
#include <cdi/requests/config_requests.hpp>
#include <cdi/requests/requests.hpp>
// IWYU pragma: end_exports

#endif  // CDI_REQUESTS_HPP
