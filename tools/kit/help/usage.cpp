// Prints help and versions, and explains faults of a command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "usage.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "../base/one_line.hpp"
#include "help_text.hpp"
#include "page.hpp"
#include "text_width.hpp"

namespace tools {

namespace {

/// The command that a command line has chosen; the tool itself if it has chosen none.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// Faults in a command line, each with its remedy.
class UsageFault {
 public:
  UsageFault(const CLI::App& tool, const CLI::ParseError& thrown)
      : command_{chosen_command(tool)},
        words_{words_of(command_)},
        extra_{tool.remaining(true)},
        thrown_{thrown} {
    std::erase(extra_, "--");  // ends the options; not an argument
    for (const auto* one : visible_commands(command_)) commands_.push_back(one->get_name());
  }

  cdi::Error error() const {
    if (!extra_.empty()) return extra_word(extra_.front());
    if (!commands_.empty() && thrown_.get_name() == "RequiredError") {
      return {.message = "no command is given", .advice = "use one of " + command_list()};
    }
    if (thrown_.get_name() == "RequiredError") return missing_option();
    if (thrown_.get_name() == "ExcludesError") {
      return {.message = one_line(thrown_.what()), .advice = "leave out one of them"};
    }
    return wrong_value();
  }

 private:
  std::string command_list() const { return fmt::format("{}", fmt::join(commands_, ", ")); }

  /// The question that proposes similar words; empty if there are none.
  template <class Words>
  static std::string did_you_mean(std::string_view wrong, const Words& known,
                                  std::string_view before = {}) {
    // Digits do not show what is meant: neither 0.3.0 nor 0.8.0 is closer to 0.9.0.
    if (wrong.find_first_not_of("0123456789.") == std::string_view::npos) return {};
    cdi::detail::NearestNames nearest{wrong};
    for (const auto& word : known) nearest.add(word);
    std::string out;
    for (std::size_t i = 0; i < nearest.names().size() && i < 3; ++i) {
      out.append(i == 0 ? "did you mean " : " or ").append(before).append(nearest.names()[i]);
    }
    return out.empty() ? out : out + "?";
  }

  /// The listing command, for a word that lists in other tools; otherwise the word.
  std::string_view usual_name(std::string_view word) const {
    if (word != "ls" && word != "list") return word;
    for (const std::string_view name : {"list", "devices"}) {
      if (std::find(commands_.begin(), commands_.end(), name) != commands_.end()) return name;
    }
    return word;
  }

  /// A word that is not a command, option or argument.
  cdi::Error extra_word(const std::string& word) const {
    if (word.size() > 1 && word.starts_with('-')) return unknown_option(word);
    if (word == "help") {
      return {.message = "\"help\" is not a command",
              .advice = fmt::format("use `{} --help`", words_)};
    }
    if (commands_.empty()) {
      return {.message = fmt::format("{} does not take {}", words_, cdi::quoted(word))};
    }
    const auto near = did_you_mean(usual_name(word), commands_);
    return {.message = fmt::format("{} is not a command", cdi::quoted(word)),
            .advice = near.empty() ? "use one of " + command_list() : near};
  }

  /// The options that a command takes, without the dashes.
  std::vector<std::string> option_words() const {
    std::vector<std::string> names;
    for (const auto& group : read_page(command_).groups) {
      for (const auto& option : group.options) {
        for (const auto& name : option.names) {
          if (name.starts_with("--")) names.push_back(name.substr(2));
        }
      }
    }
    return names;
  }

  cdi::Error unknown_option(const std::string& word) const {
    const auto name = std::string_view{word}.substr(0, word.find('='));
    if (command_.get_option_no_throw(std::string{name}) != nullptr) {
      return {.message = fmt::format("{} is before the command", cdi::quoted(word)),
              .advice = fmt::format("put it after the command: {} {}", words_, name)};
    }
    cdi::Error error{.message =
                         fmt::format("{} is not an option of {}", cdi::quoted(word), words_)};
    std::vector<std::string> owners;
    for (const auto* one : visible_commands(command_)) {
      if (one->get_option_no_throw(std::string{name}) != nullptr) owners.push_back(one->get_name());
    }
    const auto dashes = name.find_first_not_of('-');
    const auto names = option_words();
    error.advice = did_you_mean(name.substr(std::min(dashes, name.size())), names, "--");
    if (!owners.empty()) {
      error.advice =
          fmt::format("put it after the command that has it: {}", fmt::join(owners, ", "));
    }
    return error;
  }

  /// A missing argument, or a missing option of a group, which CLI11 describes as
  /// `Exactly 1 option from [--to,--for] is required`.
  cdi::Error missing_option() const {
    const std::string_view said = thrown_.what();
    const auto begin = said.find(" option from [");
    if (begin == std::string_view::npos)
      return said.ends_with(is_required) ? no_value() : wrong_value();
    const auto list = said.substr(begin + std::string_view{" option from ["}.size());
    const auto names = split(list.substr(0, list.find(']')), ",");
    if (list.find(" were given") != std::string_view::npos) {
      return {.message = fmt::format("{} exclude each other", fmt::join(names, " and ")),
              .advice = "leave out all but one"};
    }
    std::vector<std::string> forms;
    for (const auto& name : names) {
      const auto* const option = command_.get_option_no_throw(name);
      const auto type = option == nullptr ? std::string{} : option->get_type_name();
      forms.push_back(type.empty() ? name : fmt::format("{} {}", name, detail::name_in_type(type)));
    }
    return {.message = "an option is missing",
            .advice = fmt::format("give {}", fmt::join(forms, " or "))};
  }

  static constexpr std::string_view is_required = " is required";

  /// An option or argument without a value.
  cdi::Error no_value() const {
    const std::string_view said = thrown_.what();
    cdi::Error error{.message = one_line(said)};
    const auto name = std::string{said.substr(0, said.size() - is_required.size())};
    const auto* const option = command_.get_option_no_throw(name);
    const auto type = option == nullptr ? std::string{} : option->get_type_name();
    const auto brace = type.find('{');
    if (brace == std::string::npos) return error;
    const auto values = split(std::string_view{type}.substr(brace), "{,}");
    error.advice = fmt::format("give one of {}", fmt::join(values, ", "));
    return error;
  }

  /// A value that is missing, wrong or given twice. CLI11 describes these as `--output: 1 required
  /// FORMAT missing`, `--output: jsn not in {text,json,yaml}` and `--output: At Most 1 required but
  /// received 2`.
  cdi::Error wrong_value() const {
    const std::string_view said = thrown_.what();
    const auto colon = said.find(": ");
    const bool is_count = thrown_.get_name() == "ArgumentMismatch";
    const bool has_name = is_count || thrown_.get_name() == "ValidationError";
    if (!has_name || colon == said.npos) return {.message = one_line(said)};
    const auto name = said.substr(0, colon);
    if (name.find(' ') != name.npos) return {.message = one_line(said)};  // no option or argument
    const auto fault = said.substr(colon + 2);
    if (is_count && fault.ends_with(" missing")) {
      return {.message = fmt::format("{} needs a value", name)};
    }
    if (is_count && fault.starts_with("At Most 1 ")) {
      return {.message = fmt::format("{} is given more than once", name), .advice = "give it once"};
    }
    cdi::Error error{.message = one_line(fault), .where = std::string{name}};
    if (const auto question = fault.find(": did you mean "); question != fault.npos) {
      error.message = one_line(fault.substr(0, question));
      error.advice = fault.substr(question + 2);
    }
    const auto choices = fault.find(" not in {");
    if (choices == fault.npos) return error;
    const auto value = fault.substr(0, choices);
    const auto known = split(fault.substr(choices + 8), "{,}");
    error.message = fmt::format("{} is none of {}", cdi::quoted(value), fmt::join(known, ", "));
    error.advice = did_you_mean(value, known);
    return error;
  }

  const CLI::App& command_;
  std::string words_;
  std::vector<std::string> commands_{};  // that may follow
  std::vector<std::string> extra_;
  const CLI::ParseError& thrown_;
};

}  // namespace

bool is_answer(const CLI::ParseError& thrown) {
  return thrown.get_exit_code() == 0;
}

std::string usage_answer(const CLI::App& app, const CLI::ParseError& thrown) {
  if (thrown.get_name() != "CallForHelp") return std::string{thrown.what()} + "\n";
  return help_text(chosen_command(app), text_width());
}

std::string_view format_in(std::span<const char* const> words) {
  std::string_view format;
  bool is_value = false;
  for (const std::string_view word : words) {
    if (is_value) format = word;
    is_value = word == "-o" || word == "--output";
    for (const std::string_view option : {"--output=", "-o"}) {
      if (!is_value && word.starts_with(option)) format = word.substr(option.size());
    }
  }
  return format;
}

cdi::Error usage_fault(const CLI::App& app, const CLI::ParseError& thrown) {
  return UsageFault{app, thrown}.error();
}

cdi::Error usage_error(const CLI::App& app, const CLI::ParseError& thrown) {
  auto error = usage_fault(app, thrown);
  if (!error.advice.empty()) return error;
  error.advice = fmt::format("`{} --help` lists the options", words_of(chosen_command(app)));
  return error;
}

}  // namespace tools
