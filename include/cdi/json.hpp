// Converts models and custom described structs from and to JSON text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_JSON_HPP
#define CDI_JSON_HPP

#include <cdi/text/json.hpp>        // IWYU pragma: export
#include <cdi/text/parse_json.hpp>  // IWYU pragma: export

#endif  // CDI_JSON_HPP
