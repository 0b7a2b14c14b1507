// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_EXIT_CODES_HPP
#define CDI_EXAMPLES_CDI_EXIT_CODES_HPP

#include <array>
#include <string_view>

/// What the `cdi` tool exits with.
enum ExitCode : int {
  exit_done = 0,
  exit_refused = 1,
  exit_usage = 2,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view meaning;
};

/// The table that `cdi --help` prints.
inline constexpr std::array<ExitCodeRow, 3> exit_codes{{
    {exit_done, "done"},
    {exit_refused, "refused or unresolved; nothing printed on standard output, nothing written"},
    {exit_usage, "bad usage"},
}};

#endif  // CDI_EXAMPLES_CDI_EXIT_CODES_HPP
