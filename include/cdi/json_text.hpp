// Models, and your own described structs, from and to JSON text. Needs no other library.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_JSON_TEXT_HPP
#define CDI_JSON_TEXT_HPP

#include <cdi/text/json_text.hpp>  // IWYU pragma: export

#endif  // CDI_JSON_TEXT_HPP
