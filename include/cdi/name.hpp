// Qualified device names, one or many, such as `vendor.com/class=device`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NAME_HPP
#define CDI_NAME_HPP

#include <cdi/rules/name.hpp>   // IWYU pragma: export
#include <cdi/rules/names.hpp>  // IWYU pragma: export

#endif  // CDI_NAME_HPP
