// `Unresolved`: the reason why a device name is not resolved.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_UNRESOLVED_HPP
#define CDI_UNRESOLVED_HPP

#include <cdi/registry/unresolved.hpp>  // IWYU pragma: export

#endif  // CDI_UNRESOLVED_HPP
