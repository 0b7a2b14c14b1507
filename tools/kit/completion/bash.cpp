// The completion script for bash.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../help/page.hpp"
#include "scripts.hpp"
#include "table.hpp"

namespace tools {

namespace {

/// The functions that use the tables. bash splits words at the characters of COMP_WORDBREAKS, which
/// are frequent in device names, and replaces only the last part.
constexpr std::string_view bash_functions = R"sh(
# Sets words and cword: the words up to the cursor, of which bash has split some at = and :.
_@FUNCTION@_words() {
  local rest=${COMP_LINE:0:COMP_POINT} word trimmed i
  words=() cword=0
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    [[ $i -lt COMP_CWORD && $trimmed == "$word"* ]] || word=$trimmed
    if [[ $i -gt 0 && $rest == "$trimmed" &&
          ($word == [=:]* || ${COMP_WORDS[i-1]} == *[=:]) ]]; then
      words[cword]+=$word
    else
      cword=${#words[@]}
      words+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

# Adds the words of the arguments that begin with $typed.
_@FUNCTION@_add() {
  local word
  for word; do
    [[ $word == "$typed"* ]] && COMPREPLY+=("$word")
  done
}

# Adds what can follow $typed: words, files, directories or devices.
_@FUNCTION@_complete() {
  local names
  case $1 in
    words) _@FUNCTION@_add "${@:2}" ;;
    files | directories)
      [[ $1 == files ]] && mapfile -t COMPREPLY < <(compgen -f -- "$typed")
      [[ $1 == directories ]] && mapfile -t COMPREPLY < <(compgen -d -- "$typed")
      compopt -o filenames 2>/dev/null ;;
    devices)
      mapfile -t names < <(@CDI@ "${dirs[@]}" devices 2>/dev/null)
      _@FUNCTION@_add "${names[@]}" ;;
  esac
}

_@FUNCTION@() {
  local words cword typed command='' option='' kind='' value='' mark word i count=0 dirs=()
  COMPREPLY=()
  _@FUNCTION@_words
  for ((i = 1; i < cword; i++)); do
    word=${words[i]}
    if [[ -n $option ]]; then
      [[ $option == -d || $option == --spec-dir ]] && dirs+=(-d "$word")
      option=
      continue
    fi
    case $word in
      --) compopt -o default 2>/dev/null; return ;;
      --*=*) [[ $word == --spec-dir=* ]] && dirs+=(-d "${word#*=}") ;;
      -*) _@FUNCTION@_value "$word"; [[ -n $kind ]] && option=$word ;;
      *) if [[ -z $command ]]; then command=$word; else count=$((count + 1)); fi ;;
    esac
  done
  typed=${words[cword]}
  if [[ -z $option && $typed == --*=* ]]; then
    option=${typed%%=*} typed=${typed#*=}
    [[ $COMP_WORDBREAKS == *=* ]] || value=$option=
  fi
  local quote=${typed:0:1}
  if [[ $quote == [\'\"] ]]; then typed=${typed:1}; else quote=; fi
  _@FUNCTION@_options
  if [[ -n $option ]]; then
    _@FUNCTION@_value "$option"
    _@FUNCTION@_complete $kind
  elif [[ $typed == -* ]]; then
    _@FUNCTION@_complete words $options
  elif [[ -z $command ]]; then
    _@FUNCTION@_complete words $commands
  else
    local -a all=($arguments)
    if ((count >= ${#all[@]})) && [[ $arguments == *+ ]]; then count=$((${#all[@]} - 1)); fi
    word=${all[count]-} word=${word%+}
    _@FUNCTION@_complete ${word//,/ }
  fi
  [[ -n $value ]] && COMPREPLY=("${COMPREPLY[@]/#/$value}")
  for mark in = :; do
    [[ -z $quote && $COMP_WORDBREAKS == *$mark* && $typed == *$mark* ]] || continue
    word=${typed%"${typed##*$mark}"}
    COMPREPLY=("${COMPREPLY[@]#"$word"}") typed=${typed#"$word"}
  done
}

complete -F _@FUNCTION@ @TOOL@
)sh";

/// What completes a value, as `bash_functions` names it.
std::string bash_kind(const PageOption& option, std::string_view between) {
  switch (option.kind) {
    case ValueKind::choice:
      return fmt::format("words{}{}", between, fmt::join(option.choices, between));
    case ValueKind::file: return "files";
    case ValueKind::directory: return "directories";
    case ValueKind::device: return "devices";
    case ValueKind::none: break;
  }
  return "none";
}

/// The row of a command in the table of options.
std::string bash_options_row(const CommandPage& page, std::string_view pattern) {
  std::vector<std::string> names;
  for (const auto& option : detail::options_of(page)) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  std::vector<std::string> arguments;
  for (const auto& argument : page.arguments) {
    arguments.push_back(bash_kind(argument, ",") + (argument.repeated ? "+" : ""));
  }
  return fmt::format("    {})\n      options='{}'\n      arguments='{}' ;;\n", pattern,
                     fmt::join(names, " "), fmt::join(arguments, " "));
}

/// The rows of a command's options that take values.
std::string bash_value_rows(const CommandPage& page, std::string_view command) {
  return detail::value_rows(page, [&](const PageOption& option, const std::string& name) {
    return fmt::format("    '{} {}') kind='{}' ;;\n", command, name, bash_kind(option, " "));
  });
}

}  // namespace

std::string bash_completion(const CLI::App& tool) {
  const auto own = read_page(tool);
  auto options = bash_options_row(own, "''");
  auto values = bash_value_rows(own, "");
  std::string commands;
  for (const auto& page : detail::command_pages(tool)) {
    options += bash_options_row(page, page.name);
    values += bash_value_rows(page, page.name);
    commands.append(commands.empty() ? "" : " ").append(page.name);
  }
  const auto tables = fmt::format(
      "# bash completion of @TOOL@, written by `@TOOL@ completion bash`.\n"
      "# SPDX-License-Identifier: Apache-2.0 OR MIT\n\n"
      "# Sets commands, and the options and arguments of $command.\n"
      "_@FUNCTION@_options() {{\n  commands='{}' options= arguments=\n  case $command in\n{}"
      "  esac\n}}\n\n"
      "# Sets kind: what completes the value of option $1 of $command; empty if it has none.\n"
      "_@FUNCTION@_value() {{\n  kind=\n  case \"$command $1\" in\n{}  esac\n}}\n",
      commands, options, values);
  return detail::filled(tables + std::string{bash_functions}, tool, R"("${words[0]/#\~/$HOME}")");
}

}  // namespace tools
