// Models and targets for nlohmann_json: `nlohmann::json` and `ordered_json`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NLOHMANN_HPP
#define CDI_NLOHMANN_HPP

#include <cdi/nlohmann/editor.hpp>  // IWYU pragma: export
#include <cdi/nlohmann/models.hpp>  // IWYU pragma: export

#endif  // CDI_NLOHMANN_HPP
