// The rules of the CDI specification: code, severity and meaning of each.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_HPP
#define CDI_RULES_HPP

#include <cdi/rules/rules.hpp>  // IWYU pragma: export

#endif  // CDI_RULES_HPP
