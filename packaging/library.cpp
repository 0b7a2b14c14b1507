// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The static library: the bodies of the functions that headers only declare if CDI_COMPILED is
// defined. include/meson.build and packaging/cmake/targets.cmake build it.

#define CDI_SOURCE

#include <cdi/cdi.hpp>
#include <cdi/conversion.hpp>
#include <cdi/drift.hpp>
#include <cdi/hooks.hpp>
#include <cdi/host_options.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/runtime_features.hpp>
