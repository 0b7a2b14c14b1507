// The completion script for bash.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_COMPLETION_BASH_HPP
#define CDI_TOOLS_KIT_COMPLETION_BASH_HPP

#include <string>

#include <CLI/CLI.hpp>

namespace tools {

/// A script for bash that completes the command line of a tool.
std::string bash_completion(const CLI::App& tool);

}  // namespace tools

#endif  // CDI_TOOLS_KIT_COMPLETION_BASH_HPP
