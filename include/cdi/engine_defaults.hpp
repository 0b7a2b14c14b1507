// What container engines do without configuration: their spec directories, and whether CDI is on.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_DEFAULTS_HPP
#define CDI_ENGINE_DEFAULTS_HPP

#include <cdi/rules/engine_defaults.hpp>  // IWYU pragma: export

#endif  // CDI_ENGINE_DEFAULTS_HPP
