// The exit codes of `cdi`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/registry.hpp>

#include "../../kit/base/text.hpp"

/// The exit codes of `cdi`.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_denied = 4,
  exit_lost = 5,
  exit_outdated = 6,
  exit_unresolved = 10,       // from here on, one for each `cdi::Reason` of `why`
  exit_cannot_execute = 126,  // this and the next as in sh(1) and env(1)
  exit_no_command = 127,
};

/// The exit code of `why` for a reason.
inline ExitCode exit_code_of(cdi::Reason reason) {
  return static_cast<ExitCode>(exit_unresolved + static_cast<int>(reason));
}

/// An exit code, the commands that return it, and what it means.
struct ExitMeaning {
  ExitCode code;
  std::string_view commands;  // separated by ", "; empty: all commands
  std::string_view meaning;
};

inline constexpr ExitMeaning exit_meanings[] = {
    {exit_done, "", "done"},
    {exit_failed, "",
     "an error: something is rejected or not resolved, or cannot be read or written; nothing is "
     "printed on standard output, except what a list of devices or specs could read"},
    {exit_usage, "", "wrong usage"},
    {exit_denied, "inject, args, run",
     "the policy denies a device; nothing is printed on standard output, and only the log of "
     "--decisions is written"},
    {exit_denied, "policy", "the policy denies a device; the decisions are printed"},
    {exit_lost, "args, run",
     "the program cannot express some edits; nothing is printed on standard output"},
    {exit_outdated, "why",
     "with --bundle, specs or host have changed since the container was created; with --pod, the "
     "pod lacks something"},
    {exit_unresolved, "inject",
     "or more, with --partial: a name does not resolve; the edited config is printed or written, "
     "and the code is the one that `cdi why` returns"},
    {exit_unresolved, "why, wait", "or more: the first name does not resolve"},
    {exit_cannot_execute, "run", "the command cannot be executed"},
    {exit_no_command, "run", "the command is not found"},
};

namespace detail {

inline std::string exit_code_row(ExitCode code, std::string_view meaning) {
  return fmt::format("  {:<2}  {}\n", static_cast<int>(code), meaning);
}

inline bool returns(std::string_view command, const ExitMeaning& row) {
  const auto names = tools::split(row.commands, ", ");
  return row.commands.empty() || std::find(names.begin(), names.end(), command) != names.end();
}

}  // namespace detail

/// The exit code table in the help of a command.
inline std::string exit_code_table(std::string_view command) {
  std::string text = "Exit codes:\n";
  for (const auto& row : exit_meanings) {
    if (detail::returns(command, row)) text += detail::exit_code_row(row.code, row.meaning);
  }
  return text;
}

/// The exit code table of all commands.
inline std::string exit_code_table() {
  std::string text = "Exit codes:\n";
  for (const auto& row : exit_meanings) {
    const auto of = row.commands.empty() ? std::string{} : fmt::format(" ({})", row.commands);
    text += detail::exit_code_row(row.code, std::string{row.meaning} + of);
  }
  return text;
}

/// The rows of the exit codes of `why`, one for each reason.
inline std::string why_exit_codes() {
  std::string text;
  for (const auto& row : cdi::reasons) {
    text += detail::exit_code_row(exit_code_of(row.reason),
                                  fmt::format("{}: {}", row.code, row.meaning));
  }
  return text;
}

/// The additional table in the help of `why`.
inline std::string why_exit_code_table() {
  return "For the first name that does not resolve:\n" + why_exit_codes();
}
