// Runs programs that may hang, crash or write endlessly, and reads their output.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include <cdi/files/descriptor.hpp>

namespace tools {

namespace child {

using Clock = std::chrono::steady_clock;

void remove_handlers();

/// Reads a pipe until all writers have closed it.
cdi::Result<std::string> read_pipe(int fd, std::chrono::milliseconds deadline);

/// Kills a child, and returns its exit status. A child that waits in the kernel for a broken device
/// cannot be killed: after half a second, the parent stops waiting.
std::optional<int> end(pid_t child);

}  // namespace child

/// A program with its arguments and environment.
struct ProgramCall {
  std::string path{};
  std::vector<std::string> arguments{};  // the first is the program's name
  char* const* environment = environ;
};

/// The output of a program, and its exit status.
struct ProgramAnswer {
  std::string text{};
  std::optional<int> status{};  // from `waitpid`; nullopt if unknown
};

/// Runs a program, and returns its standard output. `Errc::timeout` if it does not close its output
/// within the deadline, `Errc::limit` if it writes more than 1 MiB; it is killed in both cases.
/// `Errc::host` if the program cannot be executed.
cdi::Result<ProgramAnswer> ask_program(std::chrono::milliseconds deadline, ProgramCall call);

}  // namespace tools
