// The completion scripts for shells.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tools {

/// A script that completes the command line of a tool.
std::string bash_completion(const CLI::App& tool);
std::string fish_completion(const CLI::App& tool);
std::string zsh_completion(const CLI::App& tool);

}  // namespace tools
