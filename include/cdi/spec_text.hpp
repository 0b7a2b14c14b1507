// Reads specs from text and writes them as text, without files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SPEC_TEXT_HPP
#define CDI_SPEC_TEXT_HPP

// IWYU pragma: begin_exports
#include <cdi/files/make_registry.hpp>
#include <cdi/files/spec_errors.hpp>
#include <cdi/files/spec_text.hpp>
// IWYU pragma: end_exports

#endif  // CDI_SPEC_TEXT_HPP
