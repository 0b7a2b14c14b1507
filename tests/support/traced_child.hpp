// A child process that can be stopped or killed between any two system calls.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string_view>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

/// A child process that calls `work`, and stops before and after each system call. It exits with 0
/// if `work` returns true.
class TracedChild {
 public:
  explicit TracedChild(const std::function<bool()>& work) {
    std::fflush(nullptr);  // otherwise the child may print the buffer again
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(not_permitted);
      ::raise(SIGSTOP);
      ::_exit(work() ? 0 : 1);  // skips the checks of sanitizers at exit
    }
    wait();
    constexpr auto options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    permitted_ = WIFSTOPPED(status_) && ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, options) == 0;
  }
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;
  ~TracedChild() { kill(); }

  bool permitted() const { return permitted_; }

  /// Continues to the next stop. False if there is none, because the child has ended.
  bool step() {
    if (!WIFSTOPPED(status_)) return false;
    REQUIRE(::ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr) == 0);
    wait();
    return WIFSTOPPED(status_);
  }

  /// Whether `next_action` works, which needs Linux 5.3.
  bool tells_system_calls() const {
    __ptrace_syscall_info info{};
    return permitted_ && ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info) > 0;
  }

  /// How the child is about to change a file; empty at other stops.
  std::string_view next_action() const {
    __ptrace_syscall_info info{};
    const bool known = ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info) > 0;
    if (!known || info.op != PTRACE_SYSCALL_INFO_ENTRY) return "";
    switch (info.entry.nr) {
      case SYS_write: return info.entry.args[0] > STDERR_FILENO ? "write " : "";
      case SYS_fsync: return "sync ";
      case SYS_unlinkat: return "unlink ";
      case SYS_renameat2: return "rename ";
#ifdef SYS_renameat
      case SYS_renameat: return "rename ";
#endif
      default: return "";
    }
  }

  /// Continues to the end. Returns whether `work` returned true.
  bool finish() {
    while (step()) continue;
    return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

  void kill() {
    if (!WIFSTOPPED(status_)) return;
    ::kill(pid_, SIGKILL);
    while (WIFSTOPPED(status_)) wait();
  }

 private:
  static constexpr int not_permitted = 77;

  void wait() {
    while (::waitpid(pid_, &status_, 0) < 0) REQUIRE(errno == EINTR);
  }

  pid_t pid_ = -1;
  int status_ = 0;
  bool permitted_ = false;
};

/// Calls `prepare`, and then `work` in a child, repeatedly. Stops the child one stop later each
/// time, and calls `act` there. Returns the number of stops, or 0 if ptrace is not permitted.
inline std::size_t stop_everywhere(const std::function<void()>& prepare,
                                   const std::function<bool()>& work,
                                   const std::function<void(TracedChild&, std::size_t)>& act) {
  for (std::size_t stop = 0;; ++stop) {
    prepare();
    TracedChild child{work};
    if (!child.permitted()) {
      MESSAGE("skipped 'ptrace is not permitted'");
      return 0;
    }
    std::size_t at = 0;
    while (at < stop && child.step()) ++at;
    act(child, stop);
    if (at < stop) return stop;
  }
}
