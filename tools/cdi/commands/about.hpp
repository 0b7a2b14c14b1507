// The version of `cdi`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

/// The line of `cdi version` and `cdi --version`.
std::string version_text();
