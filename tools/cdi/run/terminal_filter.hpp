// Keeps a command in a sandbox from typing into its shared terminal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <vector>

/// Makes the seccomp filter that refuses TIOCSTI and TIOCLINUX, with which a process inserts text
/// into the input of its terminal: the next reader, such as a shell, would execute it.
class TerminalFilter {
 public:
  /// A way to call the kernel, and the number of `ioctl` there.
  struct Abi {
    std::uint32_t architecture;
    std::uint32_t ioctl;
  };

  /// The ways of 64-bit and 32-bit programs on this machine; none if the machine is unknown.
  static constexpr auto abis() {
#if defined(__x86_64__) && !defined(__ILP32__)
    return std::array{Abi{AUDIT_ARCH_X86_64, SYS_ioctl}, Abi{AUDIT_ARCH_I386, 54}};
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
    return std::array{Abi{AUDIT_ARCH_AARCH64, SYS_ioctl}, Abi{AUDIT_ARCH_ARM, 54}};
#else
    return std::array<Abi, 0>{};
#endif
  }

  /// Whether this kernel supports filters, and the machine is known.
  static bool is_possible() {
    // Without a filter, a kernel with this mode reports a bad address, and others an unknown mode.
    return !abis().empty() && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 &&
           errno == EFAULT;
  }

  /// The filter as a program of classic BPF.
  static std::vector<sock_filter> program() {
    std::vector<sock_filter> out;
    for (const auto& abi : abis()) {
      const auto one = part(abi);
      out.push_back(load(offsetof(seccomp_data, arch)));
      out.push_back(unless(abi.architecture, one.size()));
      out.insert(out.end(), one.begin(), one.end());
    }
    out.push_back(refuse(ENOSYS));  // also of a machine that this one may emulate
    return out;
  }

 private:
  static constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW;

  /// The filter for one kind of calls.
  static std::vector<sock_filter> part(const Abi& abi) {
    std::vector<sock_filter> out{load(offsetof(seccomp_data, nr))};
#ifdef __x86_64__
    // Calls of the rare ABI x32 look like x86-64 calls with this bit.
    constexpr std::uint32_t x32 = 0x40000000;
    out.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, x32, 0, 1));
    out.push_back(refuse(ENOSYS));
#endif
    out.push_back(unless(abi.ioctl, 4));
    // The kernel looks at the low half of the request, which comes first on these machines.
    out.push_back(load(offsetof(seccomp_data, args) + sizeof(std::uint64_t)));
    out.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0));
    out.push_back(unless(TIOCLINUX, 1));
    out.push_back(refuse(EPERM));
    out.push_back(BPF_STMT(BPF_RET | BPF_K, allowed));
    return out;
  }

  static sock_filter load(std::size_t offset) {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  /// Skips instructions unless the loaded word has this value.
  static sock_filter unless(std::uint32_t word, std::size_t skipped) {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0, static_cast<std::uint8_t>(skipped));
  }
  static sock_filter refuse(std::uint32_t error) {
    return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
};
