// Turns the signals that end a program into a descriptor to poll.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <csignal>
#include <sys/signalfd.h>

#include <cdi/files/descriptor.hpp>

namespace tools {

/// A signalfd for the signals that end the program, which are blocked from now on. Without a free
/// descriptor, they still end it at once.
inline cdi::Descriptor termination_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  cdi::Descriptor out{::signalfd(-1, &signals, SFD_CLOEXEC)};
  if (out) sigprocmask(SIG_BLOCK, &signals, nullptr);
  return out;
}

}  // namespace tools
