// `cdi args`: devices as arguments of programs that are not OCI runtimes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../args/arguments_writer.hpp"
#include "../args/loss.hpp"
#include "../args/plan_for.hpp"
#include "../args/program.hpp"
#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../inject/policy_check.hpp"

struct ArgsOptions {
  std::string program{};
  std::vector<std::string> names{};
  std::string root{};
  bool nul = false;
  bool partial = false;
  bool no_sys = false;
  PolicyCheck check{};
  cdi::HooklessOptions places{};
};

/// Prints warnings and losses on standard error.
void report_losses(const Arguments& found, const Program& program, bool partial,
                   const Output& output);

/// Plans the devices, if they resolve and the policy allows them. Prints the errors otherwise.
ExitCode plan_devices(const ArgsOptions& options, const cdi::Registry& registry,
                      const cdi::ReadOptions& reading, const Output& output, ProgramPlan& found);

/// The arguments for a plan, and all losses.
Arguments write_arguments(const ProgramPlan& plan, ArgumentsWriter writer, bool with_sys);

/// Prints the arguments that give a program the devices.
ExitCode args(const CommonOptions& common, const ArgsOptions& options, const Output& output);
