// `Publisher`: writes, reconciles and removes the spec files of one owner.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PUBLISH_HPP
#define CDI_PUBLISH_HPP

#include <cdi/dirs/publish.hpp>  // IWYU pragma: export

#endif  // CDI_PUBLISH_HPP
