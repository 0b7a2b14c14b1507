// Reads standard input.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_STANDARD_INPUT_HPP
#define CDI_TOOLS_CDI_BASE_STANDARD_INPUT_HPP

#include <string>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>
#include <cdi/text/limits.hpp>

/// Reads all of standard input.
inline cdi::Result<std::string> read_standard_input() {
  return cdi::read_all(STDIN_FILENO, "standard input", cdi::Limits{}.bytes);
}

#endif  // CDI_TOOLS_CDI_BASE_STANDARD_INPUT_HPP
