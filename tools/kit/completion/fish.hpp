// The completion script for fish.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tools {

/// A script for fish that completes the command line of a tool.
std::string fish_completion(const CLI::App& tool);

}  // namespace tools
