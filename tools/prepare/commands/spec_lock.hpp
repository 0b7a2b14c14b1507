// Locks the specs for a run that changes them, from its survey to its last change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <thread>

#include "../../gpu/base/options.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/directory_lock.hpp"
#include "output.hpp"

// Without it, a slow run would replace or remove the specs of a run that has surveyed the host
// later.

namespace prepare {

/// How long a run waits for the lock in total. Then it continues without: each user who may list
/// the directory can hold its lock, and must not prevent specs.
inline constexpr std::chrono::seconds max_wait{60};

/// The messages of a run while another process holds the lock, and when it continues without the
/// lock.
inline Message busy_message(const Options& options, bool goes_on) {
  if (!goes_on) {
    return Message::note(options.output_dir + ": waiting for another run that changes specs");
  }
  return Message::warning(options.output_dir +
                          ": another process keeps the lock of the directory: going on without it");
}

/// Waits for the lock for at most `left`, reports the wait, and reduces `left` by the elapsed time.
/// Without time left, tries once. The result has no lock if there is none to take, or if another
/// process keeps it.
inline DirectoryLock lock_specs(const Options& options, Missing missing,
                                std::chrono::steady_clock::duration& left) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause{5};
  const auto end = Clock::now() + left;
  auto lock = DirectoryLock::take(options, options.output_dir, missing);
  const auto is_busy = [&] {
    return lock.state() == DirectoryLock::State::busy;
  };
  if (!is_busy() || left <= left.zero()) return lock;
  report(busy_message(options, false));
  while (is_busy() && left > left.zero()) {
    std::this_thread::sleep_for(pause);
    lock = DirectoryLock::take(options, options.output_dir, missing);
    left = end - Clock::now();
  }
  if (is_busy()) report(busy_message(options, true));
  return lock;
}

}  // namespace prepare
