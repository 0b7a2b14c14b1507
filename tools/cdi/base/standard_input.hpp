// Reads standard input.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>
#include <cdi/text/limits.hpp>

/// Reads all of standard input.
inline cdi::Result<std::string> read_standard_input() {
  return cdi::read_all(STDIN_FILENO, "standard input", cdi::Limits{}.bytes);
}
