// A command of `cdi`, and options that several commands share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../kit/base/options.hpp"
#include "exit_codes.hpp"
#include "options.hpp"
#include "output.hpp"
#include <CLI/CLI.hpp>

/// Runs a command with its parsed options.
using Run = std::function<ExitCode(const CommonOptions& common, const Output& output)>;

/// A command: its set-up adds the options to the command line, and returns the function to run.
struct Command {
  const char* name;
  const char* help;
  Run (*set_up)(CLI::App& app, CommonOptions& common);
  const char* example = "";  // a command line
};

using tools::add_repeated;
using tools::not_empty;

/// The help of device names.
inline constexpr const char* device_names_help =
    "Qualified names, vendor.com/class=device, or quoted patterns of them: 'vendor.com/class=*'";

/// Adds the positional argument for device names.
inline CLI::Option* add_names(CLI::App& app, std::vector<std::string>& names) {
  return app.add_option("NAME", names, device_names_help)->required();
}
