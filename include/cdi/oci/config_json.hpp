// The JSON text of a `config.json` as a target of edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_CONFIG_JSON_HPP
#define CDI_OCI_CONFIG_JSON_HPP

#include <cdi/targets/config_json.hpp>  // IWYU pragma: export

#endif  // CDI_OCI_CONFIG_JSON_HPP
