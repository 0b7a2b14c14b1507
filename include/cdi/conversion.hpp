// Whether an engine reads a spec file, and the file in another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CONVERSION_HPP
#define CDI_CONVERSION_HPP

// IWYU pragma: begin_exports
#include <cdi/registry/conversion.hpp>
#include <cdi/registry/conversion_advice.hpp>
// IWYU pragma: end_exports

#endif  // CDI_CONVERSION_HPP
