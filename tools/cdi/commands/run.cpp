// `cdi run`: runs a command in a bwrap sandbox with devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "../args/arguments_writer.hpp"
#include "../args/loss.hpp"
#include "../args/plan_for.hpp"
#include "../args/program.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../run/sandbox_places.hpp"
#include "../run/sandbox_process.hpp"
#include "args.hpp"
#include "commands.hpp"

namespace {

/// The options that `run` has and `args` has not.
struct RunOptions {
  std::vector<std::string> binds{};  // directories that the command may write
  bool no_network = false;
  bool hide_home = false;
  bool quiet = false;
};

/// bwrap as `run` uses it: losing `noexec` does not matter, because the command may write programs
/// to /tmp and run them.
constexpr Program run_program = [] {
  auto program = program_of("bwrap");
  program.implies = "nosuid,nodev,noexec";
  return program;
}();

/// Removes the mounts for which the host has no file or directory: the root is read-only. A library
/// that is also in the directory for libraries is not lost.
void keep_possible_mounts(ProgramPlan& found) {
  std::set<std::string> libraries;  // by their paths on the host
  for (const auto& [mount, origin, overridden] : found.plan.mounts) {
    if (overridden || !mount.container_path.starts_with(run_program.library_dir)) continue;
    libraries.insert(mount.host_path);
  }
  std::vector<cdi::Planned<cdi::Mount>> kept;
  for (const auto& planned : found.plan.mounts) {
    if (planned.overridden) continue;
    struct stat info = {};
    const auto& path = planned.edit.container_path;
    const bool is_new = path.starts_with("/dev/") || path.starts_with("/tmp/");
    if (is_new || ::stat(path.c_str(), &info) == 0) {
      kept.push_back(planned);
    } else if (!libraries.contains(planned.edit.host_path)) {
      found.lost.push_back(
          {{"mount", path, "the host has no such path, and its root is read-only in the sandbox"},
           planned.origin});
    }
  }
  found.plan.mounts = std::move(kept);
}

/// The words of bwrap that make the sandbox.
std::vector<std::string> sandbox_words(const std::vector<SandboxPlace>& places, bool no_network,
                                       Arguments found) {
  std::vector<std::string> words{"bwrap",
                                 "--die-with-parent",
                                 "--unshare-pid",
                                 "--cap-drop",
                                 "ALL",
                                 "--ro-bind",
                                 "/",
                                 "/",
                                 "--proc",
                                 "/proc",
                                 "--tmpfs",
                                 "/tmp"};
  if (no_network) words.emplace_back("--unshare-net");
  const auto made = place_words(places);
  words.insert(words.end(), made.begin(), made.end());
  std::move(found.args.begin(), found.args.end(), std::back_inserter(words));
  return words;
}

/// Runs a command with devices. Returns its exit code, or why the sandbox was not started.
ExitCode run_in_sandbox(const CommonOptions& common, const ArgsOptions& options,
                        const RunOptions& more, const Output& output) {
  const auto places = sandbox_places(more.binds, more.hide_home);
  if (!places) return output.reject(places.error());
  const auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  ProgramPlan plan;
  const auto code = plan_devices(options, *registry, common.reading, output, plan);
  if (code != exit_done) return code;
  keep_possible_mounts(plan);
  auto found = write_arguments(plan, ArgumentsWriter{run_program, nullptr, ""}, !options.no_sys);
  if (auto hidden = hidden_directory_warning(*places)) found.warnings.push_back(*std::move(hidden));
  if (more.quiet) found.warnings.clear();
  if (more.quiet && options.partial) found.lost.clear();
  report_losses(found, run_program, options.partial, output);
  if (!found.lost.empty() && !options.partial) return exit_lost;
  auto words = sandbox_words(*places, more.no_network, std::move(found));
  auto sandbox = SandboxProcess::start(std::move(words), common.command);
  if (!sandbox) return output.reject(sandbox.error());
  return static_cast<ExitCode>(sandbox->wait());
}

constexpr std::string_view run_usage =
    "Usage: cdi run [OPTIONS] NAME... -- COMMAND [ARGUMENT...]\n\n"
    "The sandbox has the files of the host, read-only, an empty /tmp, no capabilities and process\n"
    "ids of its own. Its /dev has the requested devices and the usual nodes of bwrap, such as\n"
    "/dev/null. Hooks do not run. A user needs the groups of those nodes that others may not\n"
    "open, often video and render; root needs none.\n\n"
    "It does not protect you from a malicious program, which has your environment, and can read\n"
    "every file that you can read, such as keys, use the network, and talk to the driver and to\n"
    "the sockets of the host, such as Docker's. --hide-home and --no-network remove only a part\n"
    "of that. It cannot type into your terminal.\n\n"
    "The exit code is the exit code of the command. If a signal ends the command, the exit code\n"
    "is 128 plus the number of the signal. If the command does not start, the exit code is one of\n"
    "these.\n\n";

Run set_up_run(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<ArgsOptions>();
  options->program = "bwrap";
  add_names(app, options->names);
  app.add_flag("--partial", options->partial, "Run the command even if some edits are lost");
  app.add_flag("--no-sys", options->no_sys, "Do not mount /sys for the drivers of GPUs");
  auto more = std::make_shared<RunOptions>();
  tools::add_repeated(app, "--bind", more->binds,
                      "A directory of the host that the command may write; can be repeated")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_flag("--no-network", more->no_network, "Give no network but a loopback of its own");
  app.add_flag("--hide-home", more->hide_home,
               "Show an empty home directory, in which files are lost at the end");
  app.add_flag("-q,--quiet", more->quiet, "Print no warnings, only errors");
  add_policy(app, options->check, "Give only devices that this policy allows");
  app.footer(std::string{run_usage} + exit_code_table("run"));
  app.final_callback([&common] {
    if (common.command.empty()) {
      throw CLI::ValidationError{"COMMAND", "must follow the names, after --"};
    }
  });
  return [options, more](const CommonOptions& given, const Output& output) {
    return run_in_sandbox(given, *options, *more, output);
  };
}

}  // namespace

constexpr Command run_command{"run", "Run a command in a sandbox of bwrap with devices", set_up_run,
                              "cdi run vendor.com/gpu=0 -- env"};
