// `lower`: converts a spec to another CDI release, and lists what is lost.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_LOWER_HPP
#define CDI_LOWER_HPP

#include <cdi/rules/lower.hpp>  // IWYU pragma: export

#endif  // CDI_LOWER_HPP
