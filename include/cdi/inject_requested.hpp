// Injects the devices that an OCI config asks for, and waits for them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_INJECT_REQUESTED_HPP
#define CDI_INJECT_REQUESTED_HPP

#include <cdi/dirs/inject_requested.hpp>  // IWYU pragma: export

#endif  // CDI_INJECT_REQUESTED_HPP
