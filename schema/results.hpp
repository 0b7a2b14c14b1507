// The schemas of what the tools print with -o json.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <nlohmann/json.hpp>

/// What `cdi resolve` prints.
nlohmann::ordered_json resolved_schema();

/// What `cdi show` prints.
nlohmann::ordered_json shown_schema();

/// What all other commands print, by command.
nlohmann::ordered_json results_schema();
