// Reads a command line for help, man page and completion.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "page.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "../base/text.hpp"

namespace tools {

namespace {

/// Our names for the values that CLI11 describes.
std::string value_name(std::string_view name) {
  if (name == "INT" || name == "UINT" || name == "FLOAT") return "NUMBER";
  return std::string{name};
}

/// What can complete a value with this name, or with this description of a CLI11 check.
ValueKind kind_of_value(std::string_view name, std::string_view check) {
  if (check == "FILE" || check.starts_with("PATH")) return ValueKind::file;
  if (check == "DIR") return ValueKind::directory;
  for (const auto word : {"FILE", "CONFIG", "PATH", "LIBRARY"}) {
    if (name == word) return ValueKind::file;
  }
  for (const auto word : {"DIR", "ROOTFS", "BUNDLE"}) {
    if (name == word) return ValueKind::directory;
  }
  return name == "DEVICE" ? ValueKind::device : ValueKind::none;
}

/// The names of other options, in byte order.
template <class Options>
std::string option_names(const Options& options) {
  std::vector<std::string> names;
  for (const auto* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The default, as the user would write it.
std::string default_of(const CLI::Option& option) {
  auto text = option.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return text;
}

/// The help of an option, followed by facts that the command line knows.
std::string help_of(const CLI::Option& option, const PageOption& read) {
  std::vector<std::string> facts;
  if (!read.choices.empty()) facts.push_back(fmt::format("{}", fmt::join(read.choices, ", ")));
  if (const auto text = default_of(option); !text.empty()) facts.push_back("default: " + text);
  if (read.required && !read.names.empty()) facts.emplace_back("required");
  if (const auto needs = option.get_needs(); !needs.empty()) {
    facts.push_back("needs " + option_names(needs));
  }
  if (const auto excludes = option.get_excludes(); !excludes.empty()) {
    facts.push_back("excludes " + option_names(excludes));
  }
  const auto& help = option.get_description();
  if (facts.empty()) return help;
  return fmt::format("{}{}({})", help, help.empty() ? "" : " ", fmt::join(facts, "; "));
}

/// Sets the name of an option's value, and what completes it.
void read_value(const CLI::Option& option, PageOption& read) {
  const auto type = option.get_type_name();
  const auto name = detail::name_in_type(type);
  const auto check = std::string_view{type}.substr(std::min(name.size() + 1, type.size()));
  const bool is_argument = read.names.empty();
  read.value = is_argument ? option.get_name(true) : value_name(name);
  if (check.starts_with('{') && check.ends_with('}')) {
    read.kind = ValueKind::choice;
    read.choices = split(check, "{,}");
    return;
  }
  read.kind = kind_of_value(read.value, check);
  if (is_argument && (read.value == "NAME" || read.value == "PATTERN")) {
    read.kind = ValueKind::device;
  }
}

PageOption read_option(const CLI::Option& option) {
  PageOption read;
  for (const auto& name : option.get_snames()) read.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) read.names.push_back("--" + name);
  if (option.get_items_expected_max() != 0) read_value(option, read);
  read.required = option.get_required();
  read.repeated = option.get_expected_max() > 1 ||
                  option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  read.help = help_of(option, read);
  return read;
}

/// The visible options of a command line, without arguments.
std::vector<PageOption> read_options(const CLI::App& app) {
  std::vector<PageOption> options;
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    if (app.get_name().empty() && option == app.get_help_ptr()) continue;  // an option group
    options.push_back(read_option(*option));
    if (option == app.get_help_ptr()) options.back().help = "Print this help";
    if (option == app.get_version_ptr()) options.back().help = "Print the version";
  }
  return options;
}

/// How many options of a group are needed, as text.
std::string group_help(const CLI::App& group) {
  const auto least = group.get_require_option_min();
  const auto most = group.get_require_option_max();
  if (least == 1 && most == 1) return group.get_description() + " (exactly one is required)";
  if (least == 1) return group.get_description() + " (at least one is required)";
  if (most == 1) return group.get_description() + " (at most one is allowed)";
  return group.get_description();
}

/// The tool that a command belongs to; a tool belongs to itself.
const CLI::App& tool_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : tool_of(*app.get_parent());
}

/// The options of the tool that a command also takes, without help, version and those that the
/// command replaces.
std::vector<PageOption> tool_options(const CLI::App& app) {
  std::vector<PageOption> options;
  if (app.get_parent() == nullptr) return options;
  for (auto& option : read_options(tool_of(app))) {
    const auto& name = option.names.back();
    if (name == "--version" || app.get_option_no_throw(name) != nullptr) continue;
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<OptionGroup> read_groups(const CLI::App& app) {
  std::vector<OptionGroup> groups;
  const auto add = [&](OptionGroup group) {
    if (!group.options.empty()) groups.push_back(std::move(group));
  };
  add({"Options", "", read_options(app)});
  for (const auto* sub : app.get_subcommands({})) {
    if (sub->get_name().empty()) add({sub->get_group(), group_help(*sub), read_options(*sub)});
  }
  add({std::string{shared_options_title}, "", tool_options(app)});
  return groups;
}

/// The line that shows how to call a command, unless its notes begin with one.
std::string take_usage(CommandPage& page, std::string_view command) {
  constexpr std::string_view mark = "Usage: ";
  if (page.notes.starts_with(mark)) {
    const auto end = std::min(page.notes.find('\n'), page.notes.size());
    const auto usage = page.notes.substr(mark.size(), end - mark.size());
    page.notes.erase(0, std::min(page.notes.find_first_not_of('\n', end), page.notes.size()));
    return usage;
  }
  auto usage = page.words;
  for (const auto& group : page.groups) {
    for (const auto& option : group.options) {
      if (!option.required || group.title == shared_options_title) continue;
      usage.append(" ").append(option.names.back()).append(" ").append(option.value);
    }
  }
  usage += " [OPTIONS]";
  for (const auto& argument : page.arguments) {
    const auto name = argument.value + (argument.repeated ? "..." : "");
    usage += argument.required ? " " + name : " [" + name + "]";
  }
  return usage.append(command);
}

}  // namespace

std::vector<const CLI::App*> visible_commands(const CLI::App& tool) {
  return tool.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

std::string words_of(const CLI::App& app) {
  const auto* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : words_of(*parent) + " " + app.get_name();
}

CommandPage read_page(const CLI::App& app) {
  CommandPage page{.name = app.get_name(), .words = words_of(app), .help = app.get_description()};
  page.notes = app.get_footer();
  for (const auto* option : app.get_options()) {
    if (option->get_positional() && !option->get_group().empty()) {
      page.arguments.push_back(read_option(*option));
    }
  }
  page.groups = read_groups(app);
  const std::string_view command = visible_commands(app).empty()          ? ""
                                   : app.get_require_subcommand_min() > 0 ? " COMMAND"
                                                                          : " [COMMAND]";
  page.usage = take_usage(page, command);
  return page;
}

void add_example(CLI::App& command, std::string_view example) {
  const auto notes = command.get_footer();
  const auto usage = notes.starts_with("Usage: ") ? notes.find('\n') + 1 : 0;  // `take_usage`
  const auto rest = notes.substr(std::min(notes.find_first_not_of('\n', usage), notes.size()));
  if (example.empty() || rest.starts_with("Example:")) return;
  for (auto* below :
       command.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); })) {
    add_example(*below, example);
  }
  command.footer(std::function<std::string()>{});  // its text is in `rest`
  command.footer(fmt::format("{}Example:\n  {}\n\n{}", notes.substr(0, usage), example, rest));
}

}  // namespace tools

namespace tools::detail {

std::string_view name_in_type(std::string_view type) {
  return type.find("[:") == type.npos ? type.substr(0, type.find(':')) : type;
}

}  // namespace tools::detail
