// `parse_spec` and `write_spec`: a checked spec from text and to text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SPEC_TEXT_HPP
#define CDI_SPEC_TEXT_HPP

#include <cdi/files/spec_text.hpp>  // IWYU pragma: export

#endif  // CDI_SPEC_TEXT_HPP
