// Writing to standard output and standard error.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_OUTPUT_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_OUTPUT_HPP

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../base/one_line.hpp"
#include "exit_codes.hpp"

namespace prepare {

/// The output of a command, or the error.
using Output = cdi::Result<std::string>;

/// Writes to standard error. Unlike `fmt::print`, which throws, ignores failures: a closed standard
/// error must not change the program's behaviour.
inline void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

/// A line for standard error.
inline std::string error_line(std::string_view text) {
  return as_line(fmt::format("cdi-prepare: {}", text));
}

inline void report(std::string_view text) {
  print_error(error_line(text));
}

/// Prints an output; an error is printed only on standard error.
inline ExitCode finish(const Output& output, ExitCode code) {
  if (!output) {
    report("error: " + cdi::to_string(output.error()));
    return ExitCode::failed;
  }
  const auto written = std::fwrite(output->data(), 1, output->size(), stdout);
  if (written == output->size() && std::fflush(stdout) == 0) return code;
  report("error: cannot write to standard output");
  return ExitCode::failed;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_OUTPUT_HPP
