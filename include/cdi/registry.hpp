// `Registry`: finds devices by qualified name in many specs, and injects them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_HPP
#define CDI_REGISTRY_HPP

#include <cdi/registry/registry.hpp>  // IWYU pragma: export

#endif  // CDI_REGISTRY_HPP
