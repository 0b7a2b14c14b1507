// Runs a sandbox of bwrap as a child process, and passes signals on to it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>

#include "command_start.hpp"
#include "terminal_filter.hpp"

/// A running sandbox. While it runs, this process blocks the signals that it passes on. The command
/// may use its terminal, but not type into it.
class SandboxProcess {
 public:
  /// Starts bwrap with these words, beginning with the program, and a command in it.
  static cdi::Result<SandboxProcess> start(std::vector<std::string> words,
                                           const std::vector<std::string>& command);

  /// Waits for the end of the sandbox, and passes signals on to its command. Returns the exit code
  /// of the command, or 128 and the number of the signal that ended it.
  int wait();

 private:
  /// Signals that other processes send to end or control a program.
  static constexpr std::array passed{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

  struct Pipe {
    cdi::Descriptor out;
    cdi::Descriptor in;
  };

  SandboxProcess(pid_t bwrap, cdi::Descriptor info, bool shares_terminal)
      : bwrap_{bwrap}, info_{std::move(info)}, shares_terminal_{shares_terminal} {}

  static cdi::Error failure(int number);
  static cdi::Result<Pipe> make_pipe(int inherited);
  static cdi::Result<cdi::Descriptor> filter_to_read();
  static cdi::Result<pid_t> spawn(std::vector<std::string> words, const sigset_t& mask);
  static std::vector<int> withhold(sigset_t& mask);
  static sigset_t waited_signals();
  void pass_on(int number);
  pid_t command();

  pid_t bwrap_;            // the process of bwrap outside the sandbox
  cdi::Descriptor info_;   // where bwrap writes the number of its process in the sandbox
  bool shares_terminal_;   // whether the command has the terminal of this process
  std::string written_{};  // what it wrote
};

inline sigset_t SandboxProcess::waited_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  for (const int number : passed) ::sigaddset(&signals, number);
  return signals;
}

inline cdi::Error SandboxProcess::failure(int number) {
  return {.code = cdi::Errc::system,
          .message = fmt::format("cannot run bwrap: {}", std::generic_category().message(number)),
          .advice = number == ENOENT ? "install bubblewrap" : "",
          .system = number};
}

/// Makes a pipe; bwrap inherits one end.
inline cdi::Result<SandboxProcess::Pipe> SandboxProcess::make_pipe(int inherited) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure(errno);
  ::fcntl(ends.at(static_cast<std::size_t>(inherited)), F_SETFD, 0);
  return Pipe{cdi::Descriptor{ends[0]}, cdi::Descriptor{ends[1]}};
}

/// Makes a pipe with the whole terminal filter, which fits into any pipe.
inline cdi::Result<cdi::Descriptor> SandboxProcess::filter_to_read() {
  auto pipe = make_pipe(0);
  if (!pipe) return std::move(pipe).error();
  const auto program = TerminalFilter::program();
  const auto size = program.size() * sizeof(program[0]);
  if (::write(pipe->in.get(), program.data(), size) != static_cast<ssize_t>(size)) {
    return failure(errno);
  }
  return std::move(pipe->out);
}

/// Starts a program in which these signals are blocked. Returns its process.
inline cdi::Result<pid_t> SandboxProcess::spawn(std::vector<std::string> words,
                                                const sigset_t& mask) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t started = 0;
  const int fault =
      ::posix_spawnp(&started, pointers[0], nullptr, &attributes, pointers.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (fault != 0) return failure(fault);
  return started;
}

/// Blocks the signals of Ctrl-C and Ctrl-\ for bwrap, which they would end before the command has
/// handled them. Returns the signals that were not blocked before.
inline std::vector<int> SandboxProcess::withhold(sigset_t& mask) {
  std::vector<int> out;
  for (const int number : {SIGINT, SIGQUIT}) {
    if (::sigismember(&mask, number) != 0) continue;
    ::sigaddset(&mask, number);
    out.push_back(number);
  }
  return out;
}

inline cdi::Result<SandboxProcess> SandboxProcess::start(std::vector<std::string> words,
                                                         const std::vector<std::string>& command) {
  auto info = make_pipe(1);
  if (!info) return std::move(info).error();
  ::fcntl(info->out.get(), F_SETFL, O_NONBLOCK);
  words.insert(words.begin() + 1, {"--info-fd", fmt::format("{}", info->in.get())});
  cdi::Descriptor filter{-1};
  const bool shares_terminal = TerminalFilter::is_possible();
  if (shares_terminal) {
    auto read = filter_to_read();
    if (!read) return std::move(read).error();
    filter = *std::move(read);
    words.insert(words.begin() + 1, {"--seccomp", fmt::format("{}", filter.get())});
  } else {
    words.insert(words.begin() + 1, "--new-session");  // without a terminal
  }
  const cdi::Descriptor program{::open("/proc/self/exe", O_PATH)};  // bwrap inherits it
  if (program.get() < 0) return failure(errno);

  ::signal(SIGCHLD, SIG_DFL);  // the parent of this process may ignore it
  const auto signals = waited_signals();
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, &signals, &mask);
  const auto withheld = withhold(mask);
  words.emplace_back("--");
  const auto starts = start_words(program.get(), withheld, command);
  words.insert(words.end(), starts.begin(), starts.end());
  const auto bwrap = spawn(std::move(words), mask);
  if (!bwrap) return bwrap.error();
  return SandboxProcess{*bwrap, std::move(info->out), shares_terminal};
}

inline int SandboxProcess::wait() {
  const auto signals = waited_signals();
  for (;;) {
    siginfo_t info{};
    const int number = ::sigwaitinfo(&signals, &info);
    if (number > 0 && number != SIGCHLD) {
      // The kernel also sends signals of a shared terminal to the command.
      if (!shares_terminal_ || info.si_code != SI_KERNEL) pass_on(number);
      continue;
    }
    int status = 0;
    const auto ended = ::waitpid(bwrap_, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return 128;  // it is no longer a child
    if (ended != bwrap_) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  }
}

/// Sends a signal to the command, or if it has not started yet, to bwrap, which ends the sandbox.
inline void SandboxProcess::pass_on(int number) {
  const auto receiver = command();
  const bool is_withheld = number == SIGINT || number == SIGQUIT;
  if (receiver > 0) {
    ::kill(receiver, number);
  } else {
    ::kill(bwrap_, is_withheld ? SIGTERM : number);
  }
}

/// The process of the command: the child of bwrap's process in the sandbox; 0 if there is none.
inline pid_t SandboxProcess::command() {
  std::array<char, 256> part{};
  for (;;) {
    const auto got = ::read(info_.get(), part.data(), part.size());
    if (got <= 0) break;
    written_.append(part.data(), static_cast<std::size_t>(got));
  }
  constexpr std::string_view key = "\"child-pid\":";
  const auto at = written_.find(key);
  if (at == std::string::npos) return 0;
  const auto inner = std::atoi(written_.c_str() + at + key.size());
  const auto path = fmt::format("/proc/{0}/task/{0}/children", inner);
  const auto children = cdi::read_file(path);
  return children ? std::atoi(children->c_str()) : 0;
}
