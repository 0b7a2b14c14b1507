// The devices that an OCI config asks for.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CONFIG_REQUESTS_HPP
#define CDI_CONFIG_REQUESTS_HPP

#include <cdi/targets/config_requests.hpp>  // IWYU pragma: export

#endif  // CDI_CONFIG_REQUESTS_HPP
