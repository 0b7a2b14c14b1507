// What a runtime implements, and the edits that it would ignore or refuse.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RUNTIME_FEATURES_HPP
#define CDI_RUNTIME_FEATURES_HPP

#include <cdi/oci/features.hpp>                // IWYU pragma: export
#include <cdi/registry/unsupported_edits.hpp>  // IWYU pragma: export

#endif  // CDI_RUNTIME_FEATURES_HPP
