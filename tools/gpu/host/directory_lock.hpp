// Locks the directory of the specs, between runs that survey the host and then change it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/lock.hpp>

#include "../base/options.hpp"
#include "directories.hpp"

namespace prepare {

/// A lock on a directory by `flock`: one process at a time holds it, until the object or the
/// process ends.
class DirectoryLock {
 public:
  enum class State : std::uint8_t {
    held,
    busy,        // another process holds it
    missing,     // there is no directory
    impossible,  // the directory cannot be opened, or its file system has no locks
  };

  DirectoryLock() = default;

  /// Tries to take the lock, and does not wait for it.
  static DirectoryLock take(const HostOptions& options, const std::string& path, Missing missing) {
    auto directory = open_directory(options, path, missing);
    if (!directory) return DirectoryLock{State::impossible};
    if (!directory->descriptor) return DirectoryLock{State::missing};
    if (!cdi::detail::try_lock(directory->number())) {
      return DirectoryLock{errno == EWOULDBLOCK ? State::busy : State::impossible};
    }
    return DirectoryLock{State::held, std::move(directory->descriptor)};
  }

  State state() const { return state_; }

 private:
  explicit DirectoryLock(State state, cdi::Descriptor directory = cdi::Descriptor{-1})
      : state_{state}, directory_{std::move(directory)} {}

  State state_ = State::impossible;
  cdi::Descriptor directory_{-1};
};

}  // namespace prepare
