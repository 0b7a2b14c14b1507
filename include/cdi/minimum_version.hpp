// Determines which CDI versions can express a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MINIMUM_VERSION_HPP
#define CDI_MINIMUM_VERSION_HPP

#include <cdi/rules/minimum_version.hpp>  // IWYU pragma: export

#endif  // CDI_MINIMUM_VERSION_HPP
