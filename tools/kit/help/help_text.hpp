// The help of a command as text for a terminal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "notes.hpp"
#include "page.hpp"
#include "wrapped.hpp"
#include <CLI/CLI.hpp>

namespace tools {

namespace detail {

/// The left column of an option or argument.
inline std::string option_term(const PageOption& option) {
  if (option.names.empty()) return option.value + (option.repeated ? "..." : "");
  const bool is_long_only = option.names.front().starts_with("--");
  return fmt::format("{}{}{}{}", is_long_only ? "    " : "", fmt::join(option.names, ", "),
                     option.value.empty() ? "" : " ", option.value);
}

}  // namespace detail

/// The help of a command, wrapped at `width` columns.
inline std::string help_text(const CLI::App& app, std::size_t width) {
  const std::size_t column = width < 70 ? 16 : 28;  // of the right one
  const auto page = read_page(app);
  auto out = wrapped(page.help, width) + wrapped(page.usage, width, 4, "\nUsage: ");
  const auto add = [&](const std::string& term, const std::string& help) {
    out += wrapped_row(term, help, column, width);
  };
  if (!page.arguments.empty()) out += "\nArguments:\n";
  for (const auto& argument : page.arguments) add(detail::option_term(argument), argument.help);
  for (const auto& group : page.groups) {
    out += fmt::format("\n{}:\n", group.title);
    if (!group.help.empty()) out += wrapped(group.help, width, 2, "  ");
    for (const auto& option : group.options) add(detail::option_term(option), option.help);
  }
  const auto commands = visible_commands(app);
  if (!commands.empty()) out += "\nCommands:\n";
  for (const auto* command : commands) add(command->get_name(), command->get_description());
  const auto notes = notes_text(read_notes(page.notes), width);
  return notes.empty() ? out : out + "\n" + notes;
}

}  // namespace tools
