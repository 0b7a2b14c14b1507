// Writes, reconciles and removes one program's spec files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_HPP
#define CDI_PUBLISH_HPP

#include <cdi/publish/publish.hpp>  // IWYU pragma: export

#endif  // CDI_PUBLISH_HPP
