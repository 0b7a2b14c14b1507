// `diagnose`: why names are not resolved, with a search of other directories.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIAGNOSE_HPP
#define CDI_DIAGNOSE_HPP

#include <cdi/dirs/diagnose.hpp>  // IWYU pragma: export

#endif  // CDI_DIAGNOSE_HPP
