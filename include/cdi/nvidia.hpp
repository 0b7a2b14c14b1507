// NVIDIA's hooks: their classes, and their effects as plain data.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_HPP
#define CDI_NVIDIA_HPP

// IWYU pragma: begin_exports
#include <cdi/nvidia/container_outline.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/nvidia/hook_lowering.hpp>
#include <cdi/nvidia/root_changes.hpp>
// IWYU pragma: end_exports

#endif  // CDI_NVIDIA_HPP
