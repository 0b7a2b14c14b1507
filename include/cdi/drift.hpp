// `find_drift`: device nodes of specs whose type or number the host no longer has.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DRIFT_HPP
#define CDI_DRIFT_HPP

#include <cdi/registry/drift.hpp>  // IWYU pragma: export

#endif  // CDI_DRIFT_HPP
