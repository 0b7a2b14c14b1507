// Reads spec directories once, without a cache.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SCAN_HPP
#define CDI_SCAN_HPP

#include <cdi/dirs/scan.hpp>  // IWYU pragma: export

#endif  // CDI_SCAN_HPP
