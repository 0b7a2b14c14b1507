// `LoadedSpec`: a spec with its path, priority, warnings and lines.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_LOADED_SPEC_HPP
#define CDI_LOADED_SPEC_HPP

#include <cdi/registry/loaded_spec.hpp>  // IWYU pragma: export

#endif  // CDI_LOADED_SPEC_HPP
