// Tests for tools/cdi/run/terminal_filter.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/run/terminal_filter.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <doctest/doctest.h>

namespace {

constexpr std::uint32_t not_permitted = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t unknown_call = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint64_t high_bits = 0xffffffff00000000;

/// What the filter says to a call, by the instructions of classic BPF that it uses.
std::uint32_t answer(std::uint32_t architecture, std::uint32_t call, std::uint64_t request) {
  seccomp_data data{};
  data.arch = architecture;
  data.nr = static_cast<int>(call);
  data.args[1] = request;
  const auto program = TerminalFilter::program();
  std::uint32_t word = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const auto& step = program[at];
    bool holds = false;
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        REQUIRE(step.k + sizeof(word) <= sizeof(data));
        std::memcpy(&word, reinterpret_cast<const char*>(&data) + step.k, sizeof(word));
        continue;
      case BPF_JMP | BPF_JEQ | BPF_K: holds = word == step.k; break;
      case BPF_JMP | BPF_JSET | BPF_K: holds = (word & step.k) != 0; break;
      case BPF_RET | BPF_K: return step.k;
      default: FAIL("an instruction that the filter has not had so far");
    }
    at += holds ? step.jt : step.jf;
  }
  FAIL("the filter has no end");
  return 0;
}

}  // namespace

TEST_CASE("what types into a terminal is refused, for each kind of call") {
  for (const auto& abi : TerminalFilter::abis()) {
    const auto asked = [&](std::uint64_t request) {
      return answer(abi.architecture, abi.ioctl, request);
    };
    CAPTURE(abi.architecture);
    for (const int name : {TIOCSTI, TIOCLINUX}) {
      const auto request = static_cast<std::uint64_t>(name);
      CHECK(asked(request) == not_permitted);
      CHECK(asked(request | high_bits) == not_permitted);
      CHECK(asked(request | 1ULL << 32) == not_permitted);
      CHECK(answer(abi.architecture, abi.ioctl + 1, request) == SECCOMP_RET_ALLOW);
    }
    for (const int name : {TIOCGWINSZ, TCGETS, 0, TIOCSTI - 1, TIOCLINUX + 1}) {
      CHECK(asked(static_cast<std::uint64_t>(name)) == SECCOMP_RET_ALLOW);
    }
  }
}

#ifdef __x86_64__
TEST_CASE("ioctl has another number in programs of 32 bits") {
  CHECK(answer(AUDIT_ARCH_I386, 54, TIOCSTI) == not_permitted);
  CHECK(answer(AUDIT_ARCH_I386, SYS_ioctl, TIOCSTI) == SECCOMP_RET_ALLOW);
  CHECK(answer(AUDIT_ARCH_X86_64, 54, TIOCSTI) == SECCOMP_RET_ALLOW);
}

TEST_CASE("calls of the ABI x32 are refused: they have numbers of their own") {
  for (const std::uint32_t call : {16U, 514U, 0U}) {
    CHECK(answer(AUDIT_ARCH_X86_64, call | 0x40000000, TIOCSTI) == unknown_call);
  }
}
#endif

TEST_CASE("calls of another machine are refused") {
  CHECK(answer(AUDIT_ARCH_MIPS, SYS_ioctl, TIOCSTI) == unknown_call);
  CHECK(answer(AUDIT_ARCH_S390X, SYS_ioctl, TIOCGWINSZ) == unknown_call);
}
