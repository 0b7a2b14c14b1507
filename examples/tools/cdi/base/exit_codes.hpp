// The exit codes of `cdi`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_EXIT_CODES_HPP
#define CDI_TOOLS_CDI_BASE_EXIT_CODES_HPP

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/registry.hpp>

/// The exit codes of `cdi`.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_incomplete = 3,
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

namespace detail {

inline std::string exit_code_row(ExitCode code, std::string_view meaning) {
  return fmt::format("  {:<2}  {}\n", static_cast<int>(code), meaning);
}

}  // namespace detail

/// The exit code table in the help of every command.
inline std::string exit_code_table() {
  return "Exit codes:\n" + detail::exit_code_row(exit_done, "done") +
         detail::exit_code_row(exit_failed,
                               "rejected or not resolved; nothing is printed on standard output, "
                               "and only the --decisions log is written") +
         detail::exit_code_row(exit_usage, "wrong usage") +
         detail::exit_code_row(exit_incomplete,
                               "rootfs --apply failed while it made changes; run it again") +
         detail::exit_code_row(exit_denied,
                               "the policy denies a device; inject prints nothing on standard "
                               "output, and writes only the --decisions log") +
         detail::exit_code_row(exit_lost,
                               "args found edits that the program cannot express; nothing is "
                               "printed on standard output") +
         detail::exit_code_row(exit_outdated,
                               "why --bundle found that specs or host have changed since the "
                               "container was created, or why --pod what a pod lacks") +
         detail::exit_code_row(exit_cannot_execute, "run cannot execute the command") +
         detail::exit_code_row(exit_no_command, "run finds no such command");
}

/// The additional lines in the help of `inject`.
inline std::string partial_exit_code_table() {
  return detail::exit_code_row(
      exit_unresolved,
      "or more, with --partial: the edited config is printed or written, "
      "but a name\n       does not resolve; the code is the one that `cdi why` returns");
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

#endif  // CDI_TOOLS_CDI_BASE_EXIT_CODES_HPP
