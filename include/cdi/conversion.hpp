// Whether an engine reads a spec file, and the file in another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CONVERSION_HPP
#define CDI_CONVERSION_HPP

#include <cdi/registry/conversion.hpp>  // IWYU pragma: export

#endif  // CDI_CONVERSION_HPP
