// cdi-prepare finds the GPUs of a node and writes CDI specs for them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

// It reads /proc and /sys, without any vendor library. A Kubernetes DRA driver can call it to
// prepare claims.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../gpu/base/options.hpp"
#include "../gpu/survey/survey.hpp"
#include "../gpu/vendors/nvml_library.hpp"
#include "../kit/base/release.hpp"
#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/usage.hpp"
#include "../kit/host/standard_streams.hpp"
#include "commands/command.hpp"
#include "commands/commands.hpp"
#include "commands/exit_codes.hpp"
#include "commands/manual.hpp"
#include "commands/option_paths.hpp"
#include "commands/output.hpp"
#include "commands/settings_file.hpp"
#include <CLI/CLI.hpp>

namespace prepare {
namespace {

constexpr const Command* commands[] = {
    &detect_command,  &write_command,     &check_command,  &diff_command,   &watch_command,
    &prepare_command, &unprepare_command, &list_command,   &doctor_command, &configure_command,
    &files_command,   &slices_command,    &record_command,
};

/// Adds a command with the options that all commands have.
CLI::App& add_command(CLI::App& app, const Command& command, Options& options, Run& chosen) {
  auto& sub = *app.add_subcommand(command.name, command.help);
  sub.add_option("--root", options.root, "Directory that contains the host's proc, sys and dev")
      ->type_name("PATH")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  auto* const settings = sub.add_option("--config", options.settings,
                                        "Settings file to read instead of "
                                        "/etc/cdi-prepare/config.toml under the root")
                             ->type_name("FILE")
                             ->check(CLI::ExistingFile);
  sub.add_flag("--no-config", options.no_settings, "Read no settings file")->excludes(settings);
  sub.footer(exit_code_help());
  sub.callback([&chosen, run = command.set_up(sub, options)] { chosen = run; });
  return sub;
}

/// Parses the command line, and returns what runs its command. Throws `CLI::ParseError` for an
/// error, for help and for the version.
Run parse(CLI::App& app, Options& options, int argc, char** argv, tools::Describe describe) {
  Run chosen;
  for (const auto* const command : commands) {
    auto& sub = add_command(app, *command, options, chosen);
    if (describe == tools::Describe::yes) tools::add_example(sub, command->example);
  }
  if (describe == tools::Describe::yes) {
    tools::add_describing_commands(app, prepare_manual(), [&chosen](const std::string& text) {
      chosen = [text](const Options&) {
        return finish(text, ExitCode::done);
      };
    });
  }
  app.require_subcommand(1);
  app.footer(exit_code_help());
  app.set_version_flag("--version", "cdi-prepare " + tools::release_version());
  app.parse(argc, argv);
  return chosen;
}

/// Applies the settings file to the options that the command line does not give. All settings are
/// checked, also those for which the chosen command has no option.
cdi::Result<void> use_settings(CLI::App& command, Options& options) {
  if (command.get_option_no_throw("--config") == nullptr) return {};  // prints only descriptions
  const auto file = options.settings.empty() ? options.settings : absolute({}, options.settings);
  auto host = static_cast<const HostOptions&>(options);
  host.root = absolute({}, host.root);
  auto settings =
      options.no_settings ? cdi::Result{std::vector<GivenSetting>{}} : read_settings(host, file);
  if (!settings) return std::move(settings).error();
  if (!settings->empty()) {
    CLI::App checks;
    Options unused;
    Run none;
    std::vector<CLI::App*> subs;
    for (const auto* const one : commands) {
      subs.push_back(&add_command(checks, *one, unused, none));
    }
    if (auto good = apply_settings(*settings, subs, command); !good) return good;
  }
  options.given = given_names(command);
  return {};
}

/// Prints help, the version or an error, which is a record with `-o json`.
ExitCode report_usage(const CLI::App& app, const CLI::ParseError& thrown, std::string_view format) {
  if (tools::is_answer(thrown)) return finish(tools::usage_answer(app, thrown), ExitCode::done);
  const auto error = tools::usage_error(app, thrown);
  if (format == "json") message_format() = MessageFormat::json;
  report(Message::error(error));
  return ExitCode::usage;
}

ExitCode run(int argc, char** argv, tools::Describe describe) {
  CLI::App app{"Finds the GPUs and other accelerators of a node, and writes CDI specs for them.",
               "cdi-prepare"};
  Options options;
  Run command;
  try {
    command = parse(app, options, argc, argv, describe);
  } catch (const CLI::ParseError& why) {
    if (describe == tools::Describe::no) return run(argc, argv, tools::Describe::yes);
    return report_usage(app, why, tools::format_in({argv, static_cast<std::size_t>(argc)}));
  }
  if (options.json()) message_format() = MessageFormat::json;
  if (const auto used = use_settings(*app.get_subcommands().front(), options); !used) {
    report(Message::error(used.error()));
    return ExitCode::usage;
  }
  complete(options);
  if (const auto used = use_engines(options); !used) return finish(used.error(), ExitCode::failed);
  if (auto fault = nvml_fault(options)) {
    report(Message::error(*std::move(fault)));
    return ExitCode::usage;
  }
  return command(options);
}

}  // namespace
}  // namespace prepare

// Only lack of memory can cause an exception here.
int main(int argc, char** argv) {
  tools::reserve_standard_streams();
  ::umask(022);  // everything it creates has an explicit mode, directories from the first moment
  prepare::answer_nvml(argc, argv);
  return static_cast<int>(prepare::run(argc, argv, tools::Describe::no));
}
