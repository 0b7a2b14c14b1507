// `registry_of_texts`: a registry of specs that are texts in memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_OF_TEXTS_HPP
#define CDI_REGISTRY_OF_TEXTS_HPP

#include <cdi/files/registry_of_texts.hpp>  // IWYU pragma: export

#endif  // CDI_REGISTRY_OF_TEXTS_HPP
