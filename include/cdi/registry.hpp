// `Registry`: the devices of many specs, and the reasons why names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_HPP
#define CDI_REGISTRY_HPP

// IWYU pragma: begin_exports
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
// IWYU pragma: end_exports

#endif  // CDI_REGISTRY_HPP
