// `diagnose`: why names are not resolved, with a search of other directories; `ignored_specs`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIAGNOSE_HPP
#define CDI_DIAGNOSE_HPP

// IWYU pragma: begin_exports
#include <cdi/dirs/diagnose.hpp>
#include <cdi/dirs/ignored_specs.hpp>
// IWYU pragma: end_exports

#endif  // CDI_DIAGNOSE_HPP
