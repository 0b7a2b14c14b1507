// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_COMMANDS_EXIT_CODES_HPP
#define CDI_PREPARE_COMMANDS_EXIT_CODES_HPP

#include <string>
#include <string_view>

namespace prepare {

/// How a run ended: the exit status of `cdi-prepare`.
enum class ExitCode : int {
  done = 0,
  failed = 1,
  usage = 2,
  partial = 3,
  not_ready = 4,
};

/// One exit code and what it tells the caller.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};

/// The promise to scripts; `--help` prints it.
inline constexpr ExitMeaning exit_meanings[] = {
    {ExitCode::done, "done; or no GPU on this host, which is said in a line"},
    {ExitCode::failed,
     "error, or no GPU that can be handed out; of `check` and `diff`: the specs are not what they "
     "would be now; of `doctor`: something needs mending"},
    {ExitCode::usage, "wrong usage"},
    {ExitCode::partial,
     "done, but some GPUs were left out (not of `check` and `diff`), or claims have a fault; "
     "standard error says why"},
    {ExitCode::not_ready,
     "not ready: nodes that are to be are not there yet, or fewer GPUs than expected; spec files "
     "there stay as they are"},
};

/// The table as text, one code a line.
inline std::string exit_code_help() {
  std::string out = "Exit codes:";
  for (const auto& [code, meaning] : exit_meanings) {
    out.append("\n  ").append(std::to_string(static_cast<int>(code))).append("  ").append(meaning);
  }
  return out;
}

}  // namespace prepare

#endif  // CDI_PREPARE_COMMANDS_EXIT_CODES_HPP
