// Devices for programs that are not OCI runtimes: plans without hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HPP
#define CDI_SANDBOX_HPP

// IWYU pragma: begin_exports
#include <cdi/sandbox/hookless.hpp>
#include <cdi/sandbox/state_dir.hpp>
// IWYU pragma: end_exports

#endif  // CDI_SANDBOX_HPP
