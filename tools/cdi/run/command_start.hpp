// The last step in a sandbox: this program, started by bwrap, becomes the command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "../base/exit_codes.hpp"
#include "../base/output.hpp"

namespace detail {

/// The first word of this internal command line.
inline constexpr std::string_view start_word = "--start-in-sandbox";

}  // namespace detail

/// The words that make bwrap start a command through this program, which is open as `program` and
/// needs no path in the sandbox. It unblocks the signals that bwrap blocks.
inline std::vector<std::string> start_words(int program, const std::vector<int>& withheld,
                                            const std::vector<std::string>& command) {
  std::string numbers;
  for (const int number : withheld) numbers += fmt::format("{},", number);
  std::vector<std::string> out{fmt::format("/proc/self/fd/{}", program),
                               std::string{detail::start_word}, fmt::format("{}", program),
                               numbers};
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

/// Whether a command line comes from `start_words`.
inline bool are_start_words(int count, char** words) {
  return count > 4 && words[1] == detail::start_word;
}

/// Becomes the command of `start_words`. If that is impossible, returns an exit code like sh(1) and
/// env(1); bwrap itself would exit with 1.
inline ExitCode start_command(char** words) {
  ::fcntl(std::atoi(words[2]), F_SETFD, FD_CLOEXEC);
  sigset_t released;
  ::sigemptyset(&released);
  for (char* rest = words[3]; *rest != '\0';) {
    ::sigaddset(&released, static_cast<int>(std::strtol(rest, &rest, 10)));
    if (*rest != '\0') ++rest;  // the comma
  }
  ::sigprocmask(SIG_UNBLOCK, &released, nullptr);
  ::execvp(words[4], words + 4);
  const int number = errno;
  print_error(fmt::format("cdi: error: cannot execute {}: {}\n", cdi::quoted(words[4]),
                          std::generic_category().message(number)));
  return number == ENOENT ? exit_no_command : exit_cannot_execute;
}
