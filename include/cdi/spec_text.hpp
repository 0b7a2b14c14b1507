// Reads specs from text and writes them as text, without files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SPEC_TEXT_HPP
#define CDI_SPEC_TEXT_HPP

#include <cdi/files/make_registry.hpp>  // IWYU pragma: export
#include <cdi/files/spec_text.hpp>      // IWYU pragma: export

#endif  // CDI_SPEC_TEXT_HPP
