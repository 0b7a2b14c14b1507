// The completion script for zsh.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tools {

/// A script for zsh that completes the command line of a tool.
std::string zsh_completion(const CLI::App& tool);

}  // namespace tools
