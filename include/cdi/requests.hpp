// The devices that a container asks for: of the CRI field, annotations and variables.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_HPP
#define CDI_REQUESTS_HPP

#include <cdi/rules/requests.hpp>  // IWYU pragma: export
#include <cdi/rules/selector.hpp>  // IWYU pragma: export

#endif  // CDI_REQUESTS_HPP
