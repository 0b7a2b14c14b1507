// The CDI 1.1.0 document as types.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SPEC_HPP
#define CDI_SPEC_HPP

#include <cdi/model/spec.hpp>  // IWYU pragma: export

#endif  // CDI_SPEC_HPP
