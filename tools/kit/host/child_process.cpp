// Runs programs that may hang, crash or write endlessly, and reads their output.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace tools::child {

namespace {

constexpr int cannot_execute = 126;  // an exit code, as in shells

/// Separates a forked child from its parent: a child that hangs must not hold locks, its output
/// must not reach the parent's output, and a crash must run no handler. Another thread may have
/// held any lock as the parent forked, so only system calls are made here.
void isolate(pid_t parent, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent has exited
  remove_handlers();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);

  constexpr int first = STDERR_FILENO + 1;
  const int output = ::fcntl(answer, F_DUPFD, first);  // the answer may be one of the next three
  const int null = ::open("/dev/null", O_RDWR);
  if (::dup2(null, STDIN_FILENO) < 0 || ::dup2(null, STDERR_FILENO) < 0) ::_exit(1);
  if (::dup2(output, STDOUT_FILENO) < 0) ::_exit(1);
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  for (int fd = first; fd < 4096; ++fd) ::close(fd);  // before Linux 5.9
}

cdi::Error system_failure(std::string_view action) {
  const int number = errno;
  return {.code = cdi::Errc::system,
          .message = fmt::format("{}: {}", action, std::generic_category().message(number)),
          .system = number};
}

/// Becomes a program, or reports to `why_not_executed` why it cannot be executed, and exits.
[[noreturn]] inline void execute(const char* path, char* const* arguments,
                                 char* const* environment) {
  ::execve(path, arguments, environment);
  const int why = errno;
  if (::write(STDOUT_FILENO, &why, sizeof why) < 0) ::_exit(1);
  ::_exit(cannot_execute);
}

/// The error number of `execute`, from the output and the exit status of a child.
std::optional<int> why_not_executed(std::string_view output, std::optional<int> status) {
  constexpr int last = 4095;  // of the kernel's error numbers: text of a program is greater
  int why = 0;
  if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) != cannot_execute) return {};
  if (output.size() != sizeof why) return {};
  std::memcpy(&why, output.data(), sizeof why);
  return why > 0 && why <= last ? std::optional{why} : std::nullopt;
}

}  // namespace

void remove_handlers() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
}

cdi::Result<std::string> read_pipe(int fd, std::chrono::milliseconds deadline) {
  constexpr std::size_t size_limit = 1 << 20;
  const auto end =
      Clock::now() + std::min<std::chrono::milliseconds>(deadline, std::chrono::hours{1});
  std::string text;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready == 0) {
      return cdi::Error{.code = cdi::Errc::timeout,
                        .message = fmt::format("no answer within {} ms", deadline.count())};
    }
    char block[16384];
    const auto got = ready < 0 ? -1 : ::read(fd, &block[0], sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("cannot read the answer");
    if (got == 0) return text;
    text.append(&block[0], static_cast<std::size_t>(got));
    if (text.size() > size_limit) {
      return cdi::Error{.code = cdi::Errc::limit, .message = "the answer has more than 1 MiB"};
    }
  }
}

std::optional<int> end(pid_t child) {
  const auto last = Clock::now() + std::chrono::milliseconds{500};
  do {
    int status = 0;
    const auto ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0) return std::nullopt;  // SIGCHLD is ignored, so the status is lost
    ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  } while (Clock::now() < last);
  return std::nullopt;
}

}  // namespace tools::child

namespace tools {

cdi::Result<ProgramAnswer> ask_program(std::chrono::milliseconds deadline, ProgramCall call) {
  std::vector<char*> arguments;
  for (auto& argument : call.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (::pipe2(&ends[0], O_CLOEXEC) != 0) return child::system_failure("cannot make a pipe");
  const cdi::Descriptor reading{ends[0]};
  cdi::Descriptor writing{ends[1]};
  const auto parent = ::getpid();
  const auto asked = ::fork();
  if (asked < 0) return child::system_failure("cannot start a process");
  if (asked == 0) {
    child::isolate(parent, writing.get());
    child::execute(call.path.c_str(), arguments.data(), call.environment);
  }
  writing = cdi::Descriptor{-1};
  auto text = child::read_pipe(reading.get(), deadline);
  const auto status = child::end(asked);
  if (!text) return std::move(text).error();
  if (const auto why = child::why_not_executed(*text, status)) {
    return cdi::Error{.code = cdi::Errc::host,
                      .message = fmt::format("the program cannot be executed: {}",
                                             std::generic_category().message(*why)),
                      .system = *why};
  }
  return ProgramAnswer{std::move(*text), status};
}

}  // namespace tools
