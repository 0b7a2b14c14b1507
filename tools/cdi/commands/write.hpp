// `cdi write`: publishes a spec in a spec directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../base/command.hpp"

/// The owner of files from `cdi write`, unless `--owner` names another one.
inline constexpr const char* write_owner = "cdi";
