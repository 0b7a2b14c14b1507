// The classes of hooks, and hooks as operations that need no program of a vendor.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_HOOKS_HPP
#define CDI_HOOKS_HPP

#include <cdi/rules/container_outline.hpp>  // IWYU pragma: export
#include <cdi/rules/hook_class.hpp>         // IWYU pragma: export
#include <cdi/rules/hook_lowering.hpp>      // IWYU pragma: export
#include <cdi/rules/root_changes.hpp>       // IWYU pragma: export

#endif  // CDI_HOOKS_HPP
