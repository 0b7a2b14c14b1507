// The exit codes, a promise to scripts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace prepare {

/// The exit status of `cdi-prepare`.
enum class ExitCode : int {
  done = 0,
  failed = 1,
  usage = 2,
  partial = 3,
  not_ready = 4,
};

/// An exit code and its meaning.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};

/// The exit code table of `--help`.
inline constexpr ExitMeaning exit_meanings[] = {
    {ExitCode::done, "done; or no device on this host, with a message"},
    {ExitCode::failed,
     "error, or no device can be handed out; for `check` and `diff`: the specs are not up to date; "
     "for `doctor`: something needs to be fixed"},
    {ExitCode::usage, "wrong usage"},
    {ExitCode::partial,
     "done, but some devices were left out (not for `check` and `diff`), or claims have a fault; "
     "standard error lists the reasons"},
    {ExitCode::not_ready,
     "not ready: expected device nodes are missing, or fewer devices than expected; existing spec "
     "files are not changed"},
};

/// A table as text, one line per code.
inline std::string exit_code_help(std::span<const ExitMeaning> table = exit_meanings) {
  std::string out = "Exit codes:";
  for (const auto& [code, meaning] : table) {
    out.append("\n  ").append(std::to_string(static_cast<int>(code))).append("  ").append(meaning);
  }
  return out;
}

}  // namespace prepare
