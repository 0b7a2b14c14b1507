// `inject_once`: injects devices for a program that injects once and ends.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_INJECT_ONCE_HPP
#define CDI_INJECT_ONCE_HPP

#include <cdi/dirs/inject_once.hpp>  // IWYU pragma: export

#endif  // CDI_INJECT_ONCE_HPP
