// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_BASE_OUTPUT_HPP
#define CDI_PREPARE_BASE_OUTPUT_HPP

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "exit_codes.hpp"
#include "one_line.hpp"

namespace prepare {

/// What a command answers: text for standard output, or why there is none.
using Output = cdi::Result<std::string>;

/// Writes to standard error. That it is closed or full must not change what the program does, so
/// nothing is thrown, as `fmt::print` would.
inline void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

/// A line for standard error.
inline std::string complaint(std::string_view text) {
  return as_line(fmt::format("cdi-prepare: {}", text));
}

inline void complain(std::string_view text) {
  print_error(complaint(text));
}

/// Prints an answer; an error goes to standard error alone.
inline ExitCode finish(const Output& output, ExitCode code) {
  if (!output) {
    complain("error: " + cdi::to_string(output.error()));
    return ExitCode::failed;
  }
  const auto written = std::fwrite(output->data(), 1, output->size(), stdout);
  if (written == output->size() && std::fflush(stdout) == 0) return code;
  complain("error: cannot write to standard output");
  return ExitCode::failed;
}

}  // namespace prepare

#endif  // CDI_PREPARE_BASE_OUTPUT_HPP
