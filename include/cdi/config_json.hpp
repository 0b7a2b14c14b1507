// The text of a `config.json` as a target; bytes that no edit concerns stay as they are.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CONFIG_JSON_HPP
#define CDI_CONFIG_JSON_HPP

#include <cdi/targets/config_json.hpp>  // IWYU pragma: export

#endif  // CDI_CONFIG_JSON_HPP
