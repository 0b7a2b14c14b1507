// The engine, which applies container edits to an OCI spec, and `SpecEditor`, for custom targets.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_APPLY_HPP
#define CDI_APPLY_HPP

#include <cdi/apply/apply.hpp>  // IWYU pragma: export

#endif  // CDI_APPLY_HPP
