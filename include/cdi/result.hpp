// `Result` and `Error`: a value, or the reason why there is none.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RESULT_HPP
#define CDI_RESULT_HPP

#include <cdi/base/result.hpp>  // IWYU pragma: export

#endif  // CDI_RESULT_HPP
