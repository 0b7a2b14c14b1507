// NVIDIA's hooks, and plans without hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/nvidia/hook_class.inl>
#include <cdi/sandbox/cuda_compat.inl>
#include <cdi/sandbox/elf_library.inl>
#include <cdi/sandbox/hook_changes.inl>
#include <cdi/sandbox/hookless.inl>
#include <cdi/sandbox/image_root.inl>
#include <cdi/sandbox/linker_cache.inl>
#include <cdi/sandbox/state_dir.inl>
