// Looks up device nodes and links on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_HOST_HPP
#define CDI_HOST_HPP

#include <cdi/apply/host.hpp>          // IWYU pragma: export
#include <cdi/apply/host_options.hpp>  // IWYU pragma: export

#endif  // CDI_HOST_HPP
