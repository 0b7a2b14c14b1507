// Runs a program and kills it at one of its system calls.
// SPDX-License-Identifier: Apache-2.0 OR MIT

// Ends a program where it hurts: kill_at N PROGRAM [ARGUMENT...] runs it, and kills it just before
// the N-th of its system calls that change something others can see, counted from 1. Its end is the
// last of them.

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// How it ended: the exit status.
constexpr int ended_well = 0;  // before the N-th such call
constexpr int ended_badly = 1;
constexpr int wrong_usage = 2;
constexpr int killed = 10;
constexpr int not_permitted = 77;  // tracing is forbidden, or the kernel is older than 5.3

/// Whether a system call changes something that other processes can see, or is the last one.
bool is_change(const __ptrace_syscall_info& info) {
  const auto argument = [&](int index) {
    return info.entry.args[index];
  };
  switch (static_cast<long>(info.entry.nr)) {
    case SYS_openat: return (argument(2) & O_CREAT) != 0;
    case SYS_write: return argument(0) > STDERR_FILENO;
    case SYS_flock:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fchmod:
    case SYS_fchmodat:
    case SYS_linkat:
    case SYS_mkdirat:
    case SYS_renameat2:
    case SYS_symlinkat:
    case SYS_unlinkat:
    case SYS_exit_group: return true;
#ifdef SYS_renameat
    case SYS_renameat: return true;
#endif
#ifdef SYS_open  // the older calls, which the C library makes where there are both
    case SYS_open: return (argument(1) & O_CREAT) != 0;
    case SYS_chmod:
    case SYS_link:
    case SYS_mkdir:
    case SYS_rename:
    case SYS_rmdir:
    case SYS_symlink:
    case SYS_unlink: return true;
#endif
    default: return false;
  }
}

/// Waits until the child stops or ends; whether it has stopped.
bool wait_for_stop(pid_t child, int& status) {
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status);
}

int kill_at(long number, pid_t child) {
  constexpr int system_call_stop = SIGTRAP | 0x80;
  constexpr auto options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  int status = 0;
  if (!wait_for_stop(child, status)) return not_permitted;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, options) != 0) return not_permitted;
  for (int signal = 0; ::ptrace(PTRACE_SYSCALL, child, nullptr, signal) == 0;) {
    if (!wait_for_stop(child, status)) break;
    signal = WSTOPSIG(status);
    const bool of_tracing = signal == SIGTRAP || signal == system_call_stop;
    if (of_tracing) signal = 0;  // else it is the child's own
    if (WSTOPSIG(status) != system_call_stop) continue;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) return not_permitted;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_change(info) || --number > 0) continue;
    ::kill(child, SIGKILL);
    while (wait_for_stop(child, status)) continue;
    return killed;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ended_well : ended_badly;
}

}  // namespace

int main(int argc, char** argv) {
  const long number = argc > 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (number < 1) {
    std::fputs("usage: kill_at N PROGRAM [ARGUMENT...]\n", stderr);
    return wrong_usage;
  }
  const pid_t child = ::fork();
  if (child < 0) return wrong_usage;
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(not_permitted);
    ::raise(SIGSTOP);
    ::execv(argv[2], argv + 2);
    ::_exit(wrong_usage);
  }
  return kill_at(number, child);
}
