// `HostOptions`: hooks without an environment, pinned device numbers, and links of the host.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_HOST_OPTIONS_HPP
#define CDI_HOST_OPTIONS_HPP

#include <cdi/engine/host_options.hpp>  // IWYU pragma: export

#endif  // CDI_HOST_OPTIONS_HPP
