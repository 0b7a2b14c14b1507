// NVIDIA's hooks: their classes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_HPP
#define CDI_NVIDIA_HPP

// IWYU pragma: begin_exports
#include <cdi/nvidia/hook_class.hpp>
// IWYU pragma: end_exports

#endif  // CDI_NVIDIA_HPP
