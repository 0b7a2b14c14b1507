// `parse_json`: JSON text to a `Document`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PARSE_JSON_HPP
#define CDI_PARSE_JSON_HPP

#include <cdi/text/parse_json.hpp>  // IWYU pragma: export

#endif  // CDI_PARSE_JSON_HPP
