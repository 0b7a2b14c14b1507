// `validate`: checks a spec against the rules of the CDI specification.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VALIDATE_HPP
#define CDI_VALIDATE_HPP

#include <cdi/rules/validate.hpp>  // IWYU pragma: export

#endif  // CDI_VALIDATE_HPP
