// The completion script for zsh.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>

#include <fmt/format.h>

#include "../help/page.hpp"
#include "scripts.hpp"
#include "table.hpp"

namespace tools {

namespace {

constexpr std::string_view zsh_start = R"sh(#compdef @TOOL@
# zsh completion of @TOOL@, written by `@TOOL@ completion zsh`.
# SPDX-License-Identifier: Apache-2.0 OR MIT

# The names of the devices in the spec directories of the command line.
_@FUNCTION@_devices() {
  local -a names dirs
  local i
  for ((i = 2; i < $#line_words; i++)); do
    case $line_words[i] in
      -d | --spec-dir) dirs+=(-d "${(Q)line_words[i+1]}") ;;
      --spec-dir=*) dirs+=(-d "${(Q)line_words[i]#*=}") ;;
    esac
  done
  names=(${(f)"$(@CDI@ $dirs devices 2>/dev/null)"})
  compadd "$@" -a names
}

_@TOOL@() {
  local curcontext=$curcontext state line ret=1
  local -a line_words=("${words[@]}") commands
  typeset -A opt_args
)sh";

/// What completes a value.
std::string zsh_action(const PageOption& option) {
  switch (option.kind) {
    case ValueKind::choice: return fmt::format("({})", fmt::join(option.choices, " "));
    case ValueKind::file: return "_files";
    case ValueKind::directory: return "_path_files -/";
    case ValueKind::device: return "_@FUNCTION@_devices";
    case ValueKind::none: break;
  }
  return " ";
}

/// `text` for a description in brackets, or a message, of `_arguments`.
std::string zsh_text(std::string_view text) {
  auto out = detail::replaced(std::string{text}, "\\", "\\\\");
  for (const auto* const mark : {"[", "]", ":"}) {
    out = detail::replaced(std::move(out), mark, std::string{"\\"} + mark);
  }
  return out;
}

/// The specification of an option for `_arguments`, one line per name.
std::string zsh_option(const PageOption& option) {
  std::string out;
  for (const auto& name : option.names) {
    auto text = option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    text += name;
    if (!option.value.empty()) text += name.starts_with("--") ? "=" : "+";
    text += fmt::format("[{}]", zsh_text(detail::short_help(option.help)));
    if (!option.value.empty()) {
      text += fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
    }
    out += fmt::format(" \\\n        {}", detail::in_quotes(text, R"('\'')"));
  }
  return out;
}

std::string zsh_options(const CommandPage& page) {
  std::string out;
  for (const auto& option : detail::options_of(page)) out += zsh_option(option);
  return out;
}

/// The case of a command.
std::string zsh_command(const CommandPage& page) {
  auto out = fmt::format("    {})\n      _arguments -S{}", page.name, zsh_options(page));
  for (const auto& argument : page.arguments) {
    const auto text = fmt::format("{}:{}:{}",
                                  argument.repeated   ? "*"
                                  : argument.required ? ""
                                                      : ":",
                                  zsh_text(argument.value), zsh_action(argument));
    out += fmt::format(" \\\n        {}", detail::in_quotes(text, R"('\'')"));
  }
  return out + " && ret=0 ;;\n";
}

}  // namespace

std::string zsh_completion(const CLI::App& tool) {
  std::string names;
  std::string cases;
  for (const auto& page : detail::command_pages(tool)) {
    const auto row = page.name + ":" + detail::replaced(page.help, ":", "\\:");
    names += fmt::format("      {}\n", detail::in_quotes(row, R"('\'')"));
    cases += zsh_command(page);
  }
  const auto script = fmt::format(
      "{}  _arguments -C -S{} \\\n        '(-): :->command' '(-)*:: :->arguments' && ret=0\n"
      "  case $state in\n  command)\n    commands=(\n{}    )\n"
      "    _describe -t commands command commands && ret=0 ;;\n"
      "  arguments)\n    case $line[1] in\n{}    esac ;;\n  esac\n  return ret\n}}\n\n"
      "if [[ $funcstack[1] == _@TOOL@ ]]; then\n  _@TOOL@ \"$@\"\n"
      "else\n  compdef _@TOOL@ @TOOL@\nfi\n",
      zsh_start, zsh_options(read_page(tool)), names, cases);
  return detail::filled(script, tool, "${~line_words[1]}");
}

}  // namespace tools
