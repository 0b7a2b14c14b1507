// The settings file, whose values are used where the command line has none.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <set>
#include <string>
#include <vector>

#include "../../gpu/base/options.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// A setting of the file, as words of a command line.
struct GivenSetting {
  std::string name{};
  std::vector<std::string> values{};
  cdi::Position position{};
};

/// The settings in the host's file, or in the file that an option names. `given` is the path of the
/// latter, or empty.
cdi::Result<std::vector<GivenSetting>> read_settings(const HostOptions& options,
                                                     const std::string& given);

/// Applies settings to the chosen command. Each must be valid for some of `commands`, which are
/// not run.
cdi::Result<void> apply_settings(const std::vector<GivenSetting>& settings,
                                 const std::vector<CLI::App*>& commands, CLI::App& chosen);

/// The long names of the options that a command line or a settings file gives, without dashes.
std::set<std::string> given_names(const CLI::App& command);

}  // namespace prepare
