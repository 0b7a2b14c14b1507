// The parts of cdi-pod(1) that are not in the help of a command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_MANUAL_HPP
#define CDI_TOOLS_POD_MANUAL_HPP

#include <string>

#include <fmt/format.h>

#include "../kit/help/manual.hpp"

namespace pod {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_usage = 2 };

/// The exit code table in the help of every command.
inline std::string exit_code_help() {
  return fmt::format(
      "Exit codes:\n  {}  done\n"
      "  {}  rejected; nothing is printed on standard output\n"
      "  {}  wrong usage",
      int{exit_done}, int{exit_failed}, int{exit_usage});
}

inline tools::Manual pod_manual() {
  return {
      .section = "1",
      .summary = "show what the systems around a pod do with its devices and its size",
      .description =
          "`cdi-pod` answers questions about the devices and the size of a pod, as container "
          "runtimes, Kata Containers, cloud-api-adaptor and gpu-operator do. Most commands read "
          "JSON or YAML from a file or from standard input, and print JSON on standard output.",
      .exit_codes = exit_code_help(),
      .files = {{"/var/run/cdi", "The specs that `cdi-pod guest` reads, without --spec-dir"}},
      .see_also = "cdi(1), cdi-prepare(8), kubectl(1)",
  };
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_MANUAL_HPP
