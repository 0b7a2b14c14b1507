// `WaitOptions`: how `Cache::wait_for` waits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_WAIT_OPTIONS_HPP
#define CDI_DIRS_WAIT_OPTIONS_HPP

#include <chrono>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// How `Cache::wait_for` waits.
struct WaitOptions {
  /// Fails at once if the kind of a device exists and the device does not, unless a file that may
  /// define it is unreadable or changed during the last `quiet`. Disable this for specs that are
  /// written several times, each time with more devices.
  bool fail_on_unknown_device = true;
  /// A device counts as missing if no file that may define it has changed for this long.
  std::chrono::milliseconds quiet{1000};
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_WAIT_OPTIONS_HPP
