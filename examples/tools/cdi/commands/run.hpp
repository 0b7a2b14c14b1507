// `cdi run`: runs a command in a bwrap sandbox with devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_RUN_HPP
#define CDI_TOOLS_CDI_COMMANDS_RUN_HPP

#include <cerrno>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../args/arguments_writer.hpp"
#include "../args/loss.hpp"
#include "../args/plan_for.hpp"
#include "../args/program.hpp"
#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "args.hpp"

/// The options of `run`.
struct RunOptions {
  std::vector<std::string> names{};
  bool partial = false;
  bool no_sys = false;
};

/// Removes the mounts for which the host has no file or directory: the root is read-only. A library
/// that is also in the directory for libraries is not lost.
inline void keep_possible_mounts(ProgramPlan& found, std::string_view library_dir) {
  std::set<std::string> libraries;  // by their paths on the host
  for (const auto& [mount, origin, overridden] : found.plan.mounts) {
    if (mount.container_path.starts_with(library_dir)) libraries.insert(mount.host_path);
  }
  std::vector<cdi::Planned<cdi::Mount>> kept;
  for (const auto& planned : found.plan.mounts) {
    struct stat info = {};
    const auto& path = planned.edit.container_path;
    const bool is_new = path.starts_with("/dev/") || path.starts_with("/tmp/");
    if (is_new || ::stat(path.c_str(), &info) == 0) {
      kept.push_back(planned);
    } else if (!libraries.contains(planned.edit.host_path)) {
      found.lost.push_back({"mount", path,
                            "the host has no such path, and its root is read-only in the sandbox",
                            planned.origin});
    }
  }
  found.plan.mounts = std::move(kept);
}

/// The words of the command line that starts the sandbox.
inline std::vector<std::string> sandbox_words(Arguments found,
                                              const std::vector<std::string>& command) {
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
  std::move(found.args.begin(), found.args.end(), std::back_inserter(words));
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Replaces this process by a program of PATH. Returns only if that fails.
inline ExitCode become(std::vector<std::string> words, const Output& output) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  const int number = errno;
  return output.reject(
      {.code = cdi::Errc::system,
       .message = fmt::format("cannot run bwrap: {}", std::generic_category().message(number)),
       .advice = number == ENOENT ? "install bubblewrap" : "",
       .system = number});
}

/// Runs a command with devices. Returns only if the sandbox cannot be started.
inline ExitCode run_in_sandbox(const CommonOptions& common, const RunOptions& options,
                               const Output& output) {
  ArgsOptions args{.program = "bwrap", .partial = options.partial, .no_sys = options.no_sys};
  args.names = options.names;
  const auto& program = *find_program(args.program);
  const auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  auto plan = plan_or_report(args, *registry, output);
  if (!plan) return exit_failed;
  keep_possible_mounts(*plan, program.library_dir);
  auto found = write_arguments(*plan, ArgumentsWriter{program, nullptr, ""}, !args.no_sys);
  report_losses(found, program, args.partial, output);
  if (!found.lost.empty() && !args.partial) return exit_lost;
  return become(sandbox_words(std::move(found), common.command), output);
}

inline Run set_up_run(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<RunOptions>();
  add_names(app, options->names);
  app.add_flag("--partial", options->partial, "Run the command even if some edits are lost");
  app.add_flag("--no-sys", options->no_sys, "Do not mount /sys for the drivers of GPUs");
  app.footer(
      "Usage: cdi run NAME... -- COMMAND [ARGUMENT...]\n\n"
      "The sandbox of bwrap has the files of the host, read-only, an empty /tmp, a /dev with the\n"
      "devices and no other, no capabilities and its own process ids. No hook runs. The exit code "
      "is that of the command, or 128 and\n"
      "its signal; before the command starts, it is one of these.\n\n" +
      exit_code_table());
  app.final_callback([&common] {
    if (common.command.empty()) {
      throw CLI::ValidationError("a command must follow the names: NAME... -- COMMAND");
    }
  });
  return [options](const CommonOptions& given, const Output& output) {
    return run_in_sandbox(given, *options, output);
  };
}

inline constexpr Command run_command{"run", "Run a command in a sandbox of bwrap with devices",
                                     set_up_run};

#endif  // CDI_TOOLS_CDI_COMMANDS_RUN_HPP
