// The version of `cdi`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_ABOUT_HPP
#define CDI_TOOLS_CDI_COMMANDS_ABOUT_HPP

#include <string>

/// The line of `cdi version` and `cdi --version`.
std::string version_text();

#endif  // CDI_TOOLS_CDI_COMMANDS_ABOUT_HPP
