// A command of `cdi-prepare`, and options that several commands share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../gpu/base/options.hpp"
#include "exit_codes.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// Runs a command with its parsed options.
using Run = std::function<ExitCode(const Options& options)>;

/// A command: its set-up adds the options to the command line, and returns the function to run.
struct Command {
  const char* name;
  const char* help;
  Run (*set_up)(CLI::App& app, Options& options);
  const char* example = "";  // a command line
};

void add_output(CLI::App& command, Options& options,
                const std::vector<std::string>& formats = {"text", "json"});

void add_nvml(CLI::App& command, Options& options);

void add_vendor_files(CLI::App& command, Options& options);

void add_survey_options(CLI::App& command, Options& options);

void add_wait(CLI::App& command, Options& options);

void add_output_dir(CLI::App& command, Options& options);

void add_state_dir(CLI::App& command, std::string& state_dir);

void add_profile(CLI::App& command, Options& options);

void add_make_nodes(CLI::App& command, Options& options);

void add_spec_options(CLI::App& command, Options& options);

void add_keep_options(CLI::App& command, Options& options);

void add_force(CLI::App& command, Options& options);

}  // namespace prepare
