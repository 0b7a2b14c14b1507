// Tables of a tool's commands and options for completion scripts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../help/page.hpp"
#include <CLI/CLI.hpp>

namespace tools::detail {

/// Adds the commands below a command: a first argument with their names, and their options and
/// arguments.
inline void add_commands_below(CommandPage& page, const std::vector<const CLI::App*>& below) {
  PageOption name{.value = "COMMAND", .kind = ValueKind::choice, .required = true};
  std::vector<PageOption> arguments;
  for (const auto* command : below) {
    name.choices.push_back(command->get_name());
    auto own = read_page(*command);
    for (auto& argument : own.arguments) arguments.push_back(std::move(argument));
    if (!own.groups.empty() && own.groups.front().title == "Options") {
      own.groups.front().options.erase(own.groups.front().options.begin());  // --help
      page.groups.insert(page.groups.begin() + 1, std::move(own.groups.front()));
    }
  }
  page.arguments.push_back(std::move(name));
  for (auto& argument : arguments) page.arguments.push_back(std::move(argument));
}

/// The pages of a tool's visible commands, without the tool itself.
inline std::vector<CommandPage> command_pages(const CLI::App& tool) {
  std::vector<CommandPage> pages;
  for (const auto* command : visible_commands(tool)) {
    pages.push_back(read_page(*command));
    const auto below = visible_commands(*command);
    if (!below.empty()) add_commands_below(pages.back(), below);
  }
  return pages;
}

/// The options of all groups, including the tool's.
inline std::vector<PageOption> options_of(const CommandPage& page) {
  std::vector<PageOption> options;
  for (const auto& group : page.groups) {
    options.insert(options.end(), group.options.begin(), group.options.end());
  }
  return options;
}

/// A row for each name of each option that takes a value: `row(option, name)`.
template <class Row>
std::string value_rows(const CommandPage& page, const Row& row) {
  std::string out;
  for (const auto& option : options_of(page)) {
    if (option.value.empty()) continue;
    for (const auto& name : option.names) out += row(option, name);
  }
  return out;
}

/// `text` with each `from` replaced by `to`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The name of a tool as a prefix of functions: `cdi_prepare`.
inline std::string function_name(const CLI::App& tool) {
  return replaced(tool.get_name(), "-", "_");
}

/// A template of a script with @TOOL@, @FUNCTION@, and @CDI@, the program that lists the devices:
/// the one on the command line if it is `cdi`.
inline std::string filled(std::string_view script, const CLI::App& tool, std::string_view same) {
  auto text = replaced(std::string{script}, "@TOOL@", tool.get_name());
  text = replaced(std::move(text), "@FUNCTION@", function_name(tool));
  return replaced(std::move(text), "@CDI@", tool.get_name() == "cdi" ? same : "cdi");
}

/// `text` in single quotes, with `quote` for each single quote inside.
inline std::string in_quotes(std::string_view text, std::string_view quote) {
  return "'" + replaced(std::string{text}, "'", quote) + "'";
}

/// The first words of a help text, which are enough for a list of candidates.
inline std::string short_help(std::string_view help) {
  const auto end = std::min({help.find(';'), help.find(": "), help.find(" (")});
  return std::string{help.substr(0, end)};
}

}  // namespace tools::detail
