// `Cache`: the devices of spec directories, up to date at each call.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CACHE_HPP
#define CDI_CACHE_HPP

#include <cdi/dirs/cache.hpp>  // IWYU pragma: export

#endif  // CDI_CACHE_HPP
