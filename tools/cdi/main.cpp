// `cdi`: lists, checks, converts and removes CDI specs, and injects their devices into OCI configs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/usage.hpp"
#include "base/command.hpp"
#include "base/exit_codes.hpp"
#include "base/options.hpp"
#include "base/output.hpp"
#include "commands/about.hpp"
#include "commands/commands.hpp"
#include "commands/manual.hpp"
#include "run/command_start.hpp"
#include <CLI/CLI.hpp>

namespace {

constexpr const Command* commands[] = {
    &devices_command, &vendors_command, &classes_command,  &specs_command,     &dirs_command,
    &show_command,    &why_command,     &validate_command, &inject_command,    &resolve_command,
    &policy_command,  &args_command,    &run_command,      &names_command,     &new_command,
    &write_command,   &remove_command,  &convert_command,  &transform_command, &gc_command,
    &monitor_command, &wait_command,    &schema_command,   &version_command,
};

void add_common_options(CLI::App& app, CommonOptions& common) {
  app.set_version_flag("--version", version_text);
  add_repeated(app, "-d,--spec-dir", common.named_dirs,
               "Read specs from DIR; may be repeated, the last has the highest priority "
               "(default: /etc/cdi, /var/run/cdi)")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_option("-o,--output", common.format, "Format of results, warnings and errors")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  app.add_flag("--quarantine", common.reading.quarantine_devices,
               "Skip invalid devices, and keep the other devices of their files");
  app.add_flag("--refuse-writable", common.reading.reject_writable,
               "Refuse files and directories that other users may write");
}

/// Cuts off the words of the command that `cdi run` starts: those after the first `--`. Returns
/// them.
std::vector<std::string> cut_command(std::span<const char* const>& words) {
  const auto is_command = [](std::string_view word) {
    return std::any_of(std::begin(commands), std::end(commands),
                       [&](const Command* command) { return word == command->name; });
  };
  const auto takes_value = [](std::string_view word) {
    return word == "-d" || word == "--spec-dir" || word == "-o" || word == "--output";
  };
  auto named = words.begin();
  while (named != words.end() && !is_command(*named)) {
    named += takes_value(*named) && named + 1 != words.end() ? 2 : 1;
  }
  if (named == words.end() || *named != std::string_view{run_command.name}) return {};
  const auto mark = std::find(named, words.end(), std::string_view{"--"});
  if (mark == words.end()) return {};
  std::vector<std::string> command{mark + 1, words.end()};
  words = words.first(static_cast<std::size_t>(mark - words.begin()));
  return command;
}

OutputFormat format_named(std::string_view name) {
  if (name == "json") return OutputFormat::json;
  return name == "yaml" ? OutputFormat::yaml : OutputFormat::text;
}

/// Which commands are set up. Setting up all commands takes longer than most commands run, and only
/// help, errors, and the commands that describe all others need it.
enum class SetUp { named, all };

/// Whether a command line may call a command: one of its words is the command's name.
bool is_named(std::string_view command, std::span<const char* const> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return word == command; });
}

/// Parses the command line, and returns the function that runs the command. Throws
/// `CLI::ParseError` for errors, help and the version.
Run parse(CLI::App& app, CommonOptions& common, std::span<const char* const> words, SetUp set_up) {
  app.require_subcommand(1);
  add_common_options(app, common);
  std::vector<std::pair<const CLI::App*, Run>> added;
  for (const auto* const command : commands) {
    if (set_up != SetUp::all && !is_named(command->name, words)) continue;
    auto* const sub = app.add_subcommand(command->name, command->help);
    sub->fallthrough();
    sub->footer(exit_code_table(command->name));
    added.emplace_back(sub, command->set_up(*sub, common));
    if (set_up == SetUp::all) tools::add_example(*sub, command->example);
  }
  Run chosen;
  if (set_up == SetUp::all) {
    app.footer(exit_code_table());
    tools::add_describing_commands(app, cdi_manual(), [&chosen](std::string text) {
      chosen = [text](const CommonOptions&, const Output& output) {
        return output.print(text) ? exit_done : exit_failed;
      };
    });
  }
  app.parse(static_cast<int>(words.size()), words.data());
  for (auto& [sub, run] : added) {
    if (sub->parsed()) chosen = std::move(run);
  }
  return chosen;
}

constexpr const char* description =
    "Lists, checks and converts Container Device Interface specs, and injects devices into OCI "
    "configs.";

/// Prints help, the version or an error.
ExitCode report_usage(const CLI::App& app, const CLI::ParseError& error, const Output& output) {
  if (tools::is_answer(error)) {
    return output.print(tools::usage_answer(app, error)) ? exit_done : exit_failed;
  }
  output.error(tools::usage_error(app, error));
  return exit_usage;
}

ExitCode run(std::span<const char* const> all_words, SetUp set_up) {
  CLI::App app{description, "cdi"};
  auto words = all_words;
  CommonOptions common;
  common.command = cut_command(words);
  Run command;
  try {
    command = parse(app, common, words, set_up);
  } catch (const CLI::CallForVersion& version) {
    return report_usage(app, version, Output{format_named(tools::format_in(words))});
  } catch (const CLI::ParseError& error) {
    if (set_up == SetUp::named) return run(all_words, SetUp::all);
    return report_usage(app, error, Output{format_named(tools::format_in(words))});
  }
  return command(common, Output{format_named(common.format)});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (are_start_words(argc, argv)) return start_command(argv);  // in a sandbox of `cdi run`
    return run({argv, static_cast<std::size_t>(argc)}, SetUp::named);
  } catch (const std::exception& error) {
    std::fputs("cdi: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return exit_failed;
  }
}
