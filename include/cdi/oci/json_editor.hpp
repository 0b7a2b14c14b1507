// `nlohmann::json` and `nlohmann::ordered_json` as targets of edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_JSON_EDITOR_HPP
#define CDI_OCI_JSON_EDITOR_HPP

#include <cdi/targets/json_editor.hpp>  // IWYU pragma: export

#endif  // CDI_OCI_JSON_EDITOR_HPP
