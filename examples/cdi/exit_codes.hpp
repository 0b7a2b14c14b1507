// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_EXIT_CODES_HPP
#define CDI_EXAMPLES_CDI_EXIT_CODES_HPP

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/unresolved.hpp>

/// What the `cdi` tool exits with.
enum ExitCode : int {
  exit_done = 0,
  exit_refused = 1,
  exit_usage = 2,
  exit_unresolved = 10,  // the first of those of `why`, one for each `cdi::Reason`, in its order
};

/// What `why` exits with for a reason.
inline ExitCode exit_code_of(cdi::Reason reason) {
  return static_cast<ExitCode>(exit_unresolved + static_cast<int>(reason));
}

/// The table that `cdi --help` prints.
inline std::string exit_code_table() {
  std::string text{"Exit codes:\n"};
  const auto add = [&](ExitCode code, std::string_view meaning) {
    text += fmt::format("  {:<2}  {}\n", static_cast<int>(code), meaning);
  };
  add(exit_done, "done");
  add(exit_refused, "refused or unresolved; nothing printed on standard output, nothing written");
  add(exit_usage, "bad usage");
  text += "and of why, for the first name that is not resolved:\n";
  for (const auto& row : cdi::reasons) {
    add(exit_code_of(row.reason), fmt::format("{}: {}", row.code, row.meaning));
  }
  return text;
}

#endif  // CDI_EXAMPLES_CDI_EXIT_CODES_HPP
