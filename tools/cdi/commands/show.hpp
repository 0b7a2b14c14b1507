// `cdi show`: prints the edits of devices as their files have them, with file and line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../results/devices.hpp"

/// The edits of a device: first its spec's edits for all devices, then its own. Adds a line for
/// each to `text`.
ShownEdits edits_of(const cdi::ResolvedDevice& found, std::string& text);

/// A device in its file. Adds its lines to `text`.
DeviceInFile device_in_file(const cdi::ResolvedDevice& found, std::string& text);

/// The exit code of a printed list. It is incomplete, and so an error, if the user named a
/// directory that cannot be read.
ExitCode code_of_list(bool printed, const CommonOptions& common, const cdi::Registry& registry,
                      const Output& output);
