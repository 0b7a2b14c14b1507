// `cdi why`: prints where devices are defined, or why their names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../why/name_report.hpp"

/// Prints for each name where the device is defined, or why the name does not resolve and what to
/// do.
ExitCode explain_names(const CommonOptions& common, const WhyOptions& options,
                       const Output& output);
