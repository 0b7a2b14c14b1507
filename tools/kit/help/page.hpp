// Reads a command line for help, man page and completion.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace tools {

/// What can complete a value.
enum class ValueKind { none, choice, file, directory, device };

/// An option, or an argument, which has no names.
struct PageOption {
  std::vector<std::string> names{};    // such as -o and --output
  std::string value{};                 // such as FORMAT; empty for a flag
  ValueKind kind = ValueKind::none;    // of the value
  std::vector<std::string> choices{};  // of the value; empty if others are possible
  std::string help{};
  bool required = false;
  bool repeated = false;
};

/// Options under a title.
struct OptionGroup {
  std::string title{};
  std::string help{};
  std::vector<PageOption> options{};
};

/// The title of the options that a command has from the tool.
constexpr std::string_view shared_options_title = "Options of all commands";

/// A command, or the tool itself.
struct CommandPage {
  std::string name{};   // such as "inject"; of the tool: "cdi"
  std::string words{};  // such as "cdi inject"
  std::string help{};
  std::string usage{};
  std::vector<PageOption> arguments{};
  std::vector<OptionGroup> groups{};  // without empty ones; options of all commands are the last
  std::string notes{};
};

namespace detail {

/// The name of a value in CLI11's description of its type, such as FORMAT:{text,json,yaml}, where
/// the check follows the name. A name with optional parts, such as HOST:PATH[:OPTIONS], has no
/// check.
std::string_view name_in_type(std::string_view type);

}  // namespace detail

/// The commands of a tool that its help lists.
std::vector<const CLI::App*> visible_commands(const CLI::App& tool);

/// The words that call a command, such as "cdi inject".
std::string words_of(const CLI::App& app);

/// Reads a command line.
CommandPage read_page(const CLI::App& app);

/// Adds an example to the notes of a command, after the line of its usage. Each command below it
/// gets the same example, unless it has one.
void add_example(CLI::App& command, std::string_view example);

}  // namespace tools
