// Calls to a library or program that may hang, crash or write endlessly.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_SHARED_HOST_CHILD_PROCESS_HPP
#define CDI_TOOLS_SHARED_HOST_CHILD_PROCESS_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

// A child process makes the call, and returns the result through a pipe.

namespace tools {

namespace child {

using Clock = std::chrono::steady_clock;

inline constexpr int answer_fd = 3;  // in the child: the write end of the pipe

/// Separates a forked child from its parent: a child that hangs must not hold locks, its output
/// must not reach the parent's output, and a crash must run no handler.
inline void isolate(pid_t parent, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent has exited
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);

  if (::dup2(answer, answer_fd) < 0 || ::fcntl(answer_fd, F_SETFD, FD_CLOEXEC) != 0) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(null, fd) < 0) ::_exit(1);
  }
  constexpr int first = answer_fd + 1;
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  for (int fd = first; fd < 4096; ++fd) ::close(fd);  // before Linux 5.9
}

inline cdi::Error system_failure(std::string_view action) {
  const int number = errno;
  return {.code = cdi::Errc::system,
          .message = fmt::format("{}: {}", action, std::generic_category().message(number)),
          .system = number};
}

/// Reads a pipe until all writers have closed it.
inline cdi::Result<std::string> read_pipe(int fd, std::chrono::milliseconds deadline) {
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

/// Kills a child, and returns its exit status. A child that waits in the kernel for a broken device
/// cannot be killed: after half a second, the parent stops waiting.
inline std::optional<int> end(pid_t child) {
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

}  // namespace child

/// The output of a child process, and its exit status.
struct ChildAnswer {
  std::string text{};
  std::optional<int> status{};  // from `waitpid`; nullopt if unknown
};

/// Runs `work` in a child process, which writes to `child::answer_fd`, and returns the output.
/// `Errc::timeout` if the child does not close the pipe within the deadline, `Errc::limit` if it
/// writes over 1 MiB. The child is killed in both cases.
///
/// Forks without `exec`, so only for single-threaded programs. `work` must not throw.
template <class Work>
cdi::Result<ChildAnswer> ask_child(std::chrono::milliseconds deadline, const Work& work) {
  int ends[2] = {-1, -1};
  if (::pipe2(&ends[0], O_CLOEXEC) != 0) return child::system_failure("cannot make a pipe");
  const cdi::Descriptor reading{ends[0]};
  cdi::Descriptor writing{ends[1]};
  const auto parent = ::getpid();
  const auto asker = ::fork();
  if (asker < 0) return child::system_failure("cannot start a process");
  if (asker == 0) {
    child::isolate(parent, writing.get());
    work();
    ::_exit(0);  // not `exit`, which would run the parent's handlers
  }
  writing = cdi::Descriptor{-1};
  auto text = child::read_pipe(reading.get(), deadline);
  const auto status = child::end(asker);
  if (!text) return std::move(text).error();
  return ChildAnswer{std::move(*text), status};
}

}  // namespace tools

#endif  // CDI_TOOLS_SHARED_HOST_CHILD_PROCESS_HPP
