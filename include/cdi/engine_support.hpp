// How each release of containerd and CRI-O accepts requests for CDI devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_SUPPORT_HPP
#define CDI_ENGINE_SUPPORT_HPP

#include <cdi/rules/engine_support.hpp>  // IWYU pragma: export

#endif  // CDI_ENGINE_SUPPORT_HPP
