// The lock of a run that changes specs, from its survey to its last change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_SPEC_LOCK_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_SPEC_LOCK_HPP

#include <chrono>
#include <thread>

#include <cdi/result.hpp>

#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../host/directory_lock.hpp"
#include "output.hpp"

// Without it, a slow run would replace or remove the specs of a run that has surveyed the host
// later.

namespace prepare {

/// What a run says while another one holds the lock.
inline Message waiting_for_lock(const Options& options) {
  return Message::note(options.output_dir + ": waiting for another run that changes specs");
}

/// Waits for the lock, and says so. Succeeds without the lock where there is none to take.
/// `Errc::timeout` if another process holds it for longer than a survey takes.
inline cdi::Result<DirectoryLock> lock_specs(
    const Options& options, Missing missing,
    std::chrono::milliseconds longest = std::chrono::minutes{1}) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause{5};
  const auto end = Clock::now() + longest;
  for (bool said = false;; said = true) {
    auto lock = DirectoryLock::take(options, options.output_dir, missing);
    if (lock.state() != DirectoryLock::State::busy) return lock;
    if (!said) report(waiting_for_lock(options));
    if (Clock::now() >= end) {
      return cdi::Error{.code = cdi::Errc::timeout,
                        .message = "another process holds the lock of the directory",
                        .advice = "end it, or try again",
                        .position = {.file = options.output_dir}};
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_SPEC_LOCK_HPP
