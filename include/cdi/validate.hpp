// The rules of spec files, and `validate`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VALIDATE_HPP
#define CDI_VALIDATE_HPP

#include <cdi/rules/rules.hpp>     // IWYU pragma: export
#include <cdi/rules/validate.hpp>  // IWYU pragma: export

#endif  // CDI_VALIDATE_HPP
