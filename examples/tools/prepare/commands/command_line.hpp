// The command line: which commands and options there are.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_PREPARE_COMMANDS_COMMAND_LINE_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_COMMAND_LINE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <cdi/minimum_version.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

#include "../../shared/base/usage.hpp"
#include "../base/options.hpp"
#include "../gpu/profile.hpp"
#include "claim.hpp"
#include "exit_codes.hpp"
#include "option_checks.hpp"
#include "option_paths.hpp"
#include "output.hpp"
#include <CLI/CLI.hpp>

// The commands themselves are in the other headers of this folder.

namespace prepare {

enum class Command : std::uint8_t {
  detect,
  write,
  check,
  diff,
  watch,
  doctor,
  prepare,
  unprepare,
  list,
};

/// A command with its options.
struct Request {
  Command command{};
  Options options{};
};

inline void add_output(CLI::App& command, Options& options) {
  command.add_option("-o,--output", options.output, "Format of the output")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

inline void add_nvml(CLI::App& command, Options& options) {
  command.add_flag("--nvml", options.nvml,
                   "Ask NVIDIA's library for the UUIDs and sizes of MIG instances");
  command.add_option("--nvml-library", options.nvml_library, "The library to ask")
      ->check(CLI::ExistingFile);
}

inline void add_wait(CLI::App& command, Options& options) {
  command.add_option("--wait", options.wait, "Seconds to wait until all GPUs are ready")
      ->check(seconds_fault)
      ->capture_default_str();
}

inline void add_output_dir(CLI::App& command, Options& options) {
  command
      .add_option("--output-dir", options.output_dir,
                  "Directory of the specs, which is created when a spec is written")
      ->check(not_empty)
      ->default_str("var/run/cdi below the root");
}

inline void add_spec_options(CLI::App& command, Options& options) {
  std::vector<std::string> profiles;
  for (const auto name : tools::profile_names) profiles.emplace_back(name);
  command.add_option("--profile", options.profile, "What containers will do with the GPUs")
      ->check(CLI::IsMember(profiles))
      ->capture_default_str();
  command
      .add_option("--hooks", options.hooks,
                  "Whether NVIDIA's hooks create links and caches of libraries, or mounts replace "
                  "the links")
      ->check(CLI::IsMember({"none", "nvidia"}))
      ->capture_default_str();
  command
      .add_option("--node-numbers", options.node_numbers,
                  "Whether specs have the numbers of nodes (given), or runtimes ask the host for "
                  "them (asked); auto: asked in /etc, because those specs outlive a boot")
      ->check(CLI::IsMember({"auto", "given", "asked"}))
      ->capture_default_str();
  command.add_flag(
      "--ld-library-path", options.ld_library_path,
      "Set LD_LIBRARY_PATH to the directories of libraries, which replaces that of the image");
  add_output_dir(command, options);
}

inline CLI::Option& add_max_version(CLI::App& command, Options& options) {
  return *command
              .add_option_function<std::string>(
                  "--max-version",
                  [&options](const std::string& text) {
                    options.max_version = cdi::parse_spec_version(text);
                  },
                  "Newest CDI version that the engines read; parts that it cannot hold are left "
                  "out, with a warning")
              ->check(spec_version_fault);
}

inline void add_engines(CLI::App& command, Options& options, CLI::Option& max_version) {
  command
      .add_option("--for", options.engines,
                  "Engine that will read the specs, such as podman@4.9.3; can be repeated, and the "
                  "oldest decides (default: the installed engines)")
      ->type_name("ENGINE@VERSION")
      ->check(engine_fault)
      ->excludes(&max_version)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

inline void add_state_dir(CLI::App& command, Options& options) {
  command.add_option("--state-dir", options.state_dir, "Directory of the journal of claims")
      ->check(not_empty)
      ->default_str("var/lib/cdi-prepare below the root");
}

inline void add_claim_options(CLI::App& command, Options& options) {
  add_state_dir(command, options);
  command.add_option("--lock-timeout", options.lock_timeout, "Seconds to wait for other calls")
      ->check(seconds_fault)
      ->capture_default_str();
}

/// The commands of the program. The parser calls the callback of the given one.
class Commands {
 public:
  Commands(CLI::App& app, Request& request) : app_{app}, request_{request} {}

  CLI::App& add(const char* name, const char* what, Command command) {
    auto& added = *app_.add_subcommand(name, what);
    added
        .add_option("--root", request_.options.root,
                    "Directory with the proc, sys and dev of the host")
        ->check(CLI::ExistingDirectory)
        ->capture_default_str();
    added.footer(exit_code_help());
    added.callback([command, &request = request_] { request.command = command; });
    return added;
  }

 private:
  CLI::App& app_;
  Request& request_;
};

inline void add_spec_commands(Commands& commands, Options& options) {
  auto& detect = commands.add("detect", "Show the GPUs of this host", Command::detect);
  auto& write = commands.add("write", "Write CDI specs for the GPUs of this host", Command::write);
  auto& check = commands.add("check", "Check whether the specs are what `write` would write now",
                             Command::check);
  auto& diff = commands.add("diff", "Show how the specs differ from what `write` would write now",
                            Command::diff);
  auto& watch = commands.add("watch", "Keep specs up to date until stopped", Command::watch);
  for (auto* command : {&write, &check, &diff, &watch}) {
    add_spec_options(*command, options);
    add_engines(*command, options, add_max_version(*command, options));
  }
  for (auto* command : {&detect, &write, &check, &diff, &watch}) {
    add_nvml(*command, options);
    command->add_flag("--visible-only", options.visible_only,
                      "Ignore GPUs whose nodes this process may not open");
    command
        ->add_option("--expect", options.expect, "Number of GPUs and partitions that must be ready")
        ->check(count_fault)
        ->capture_default_str();
  }
  for (auto* command : {&detect, &write, &check, &diff}) {
    add_wait(*command, options);
    add_output(*command, options);
  }
  write.add_flag("--dry-run", options.dry_run,
                 "Print the specs, one after the other; write nothing");
  for (auto* command : {&write, &watch}) {
    command->add_flag("--force", options.force, "Also replace files of other programs");
  }
  watch
      .add_option("--interval", options.interval,
                  "Seconds between checks of the host when the kernel reports no event")
      ->check(interval_fault)
      ->capture_default_str();
}

inline void add_claim_commands(Commands& commands, Options& options) {
  auto& prepare = commands.add("prepare", "Give GPUs to a claim, in a spec of its own; prints JSON",
                               Command::prepare);
  auto& unprepare =
      commands.add("unprepare", "Take back the GPUs of a claim; prints JSON", Command::unprepare);
  auto& list =
      commands.add("list", "Update the specs of all claims, and show the claims", Command::list);
  for (auto* command : {&prepare, &unprepare}) {
    command->add_option("--claim", options.claim, "UID of the claim")->required()->check(uid_fault);
  }
  prepare
      .add_option(
          "--device", options.devices,
          "Device for the claim, NAME[@REQUEST]: a name from `detect`, with or without the kind")
      ->required()
      ->check(requested_name_fault);
  prepare.add_option("--namespace", options.claim_namespace, "Namespace of the claim, for people");
  prepare.add_option("--name", options.claim_name, "Name of the claim, for people");
  prepare.add_option("--kind", options.claim_kind, "Kind of the CDI devices of claims")
      ->check(kind_fault)
      ->capture_default_str();
  add_spec_options(prepare, options);
  add_engines(prepare, options, add_max_version(prepare, options));
  add_nvml(prepare, options);
  add_output(list, options);
  for (auto* command : {&unprepare, &list}) add_output_dir(*command, options);
  for (auto* command : {&prepare, &unprepare, &list}) {
    add_claim_options(*command, options);
  }
}

inline void add_commands(CLI::App& app, Request& request) {
  auto& options = request.options;
  Commands commands{app, request};
  add_spec_commands(commands, options);
  add_claim_commands(commands, options);
  auto& doctor = commands.add(
      "doctor", "Report what keeps containers from the GPUs, and what to do", Command::doctor);
  add_output(doctor, options);
  add_output_dir(doctor, options);
  add_state_dir(doctor, options);
  doctor
      .add_option("--spec-dir", options.spec_dirs,
                  "Directories of specs to check, below the root, lowest priority first")
      ->check(not_empty);

  app.require_subcommand(1);
  app.footer(exit_code_help());
  app.set_version_flag("--version", fmt::format("cdi-prepare {}.{}.{}", CDI_VERSION_MAJOR,
                                                CDI_VERSION_MINOR, CDI_VERSION_PATCH));
}

/// Prints help, the version or an error.
inline ExitCode report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (!tools::is_answer(error)) {
    report("error: " + tools::usage_fault(app, error));
    return ExitCode::usage;
  }
  return finish(tools::usage_answer(app, error), ExitCode::done);
}

/// Reads the command line. Returns an exit code when there is nothing to run: after `--help`, or
/// after an error, which is printed.
inline std::variant<Request, ExitCode> parse_command_line(int argc, char** argv) {
  Request request;
  CLI::App app{"Finds the GPUs of a node and writes a CDI spec for them.", "cdi-prepare"};
  add_commands(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return report_usage(app, why);
  }
  complete(request.options);
  return request;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_COMMAND_LINE_HPP
