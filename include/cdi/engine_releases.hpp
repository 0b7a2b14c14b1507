// The newest CDI release that each release of containerd, CRI-O, podman and others reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_RELEASES_HPP
#define CDI_ENGINE_RELEASES_HPP

#include <cdi/rules/engine_releases.hpp>  // IWYU pragma: export

#endif  // CDI_ENGINE_RELEASES_HPP
