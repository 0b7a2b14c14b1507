// What the engine asks the host: type and numbers of a device node.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_HOST_HPP
#define CDI_HOST_HPP

#include <cdi/engine/host.hpp>  // IWYU pragma: export

#endif  // CDI_HOST_HPP
