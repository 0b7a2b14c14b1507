// `inject_json`: injects devices into the text of an OCI `config.json`, in one call.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_INJECT_JSON_HPP
#define CDI_INJECT_JSON_HPP

#include <cdi/dirs/inject_json.hpp>  // IWYU pragma: export

#endif  // CDI_INJECT_JSON_HPP
