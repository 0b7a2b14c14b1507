// Decides when a wait for devices ends, and why it failed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_WAITING_HPP
#define CDI_DIRS_WAITING_HPP

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns why names do not resolve; `late` means that the deadline has passed.
inline Error why_not_resolved(const Registry& registry, Names names, bool late) {
  auto all = registry.require(names);
  Error error = std::move(all).error();
  if (late) {
    error.code = Errc::timeout;
    error.message.insert(0, "timed out: ");
  }
  return error;
}

/// Returns whether a file that may define a device changed less than `quiet_period` ago, so that a
/// program may still be writing it.
inline bool recently_changed(const Scan& scan, std::string_view name,
                             std::chrono::milliseconds quiet_period) {
  const auto now = file_clock();
  const auto kind = name.substr(0, name.find('='));
  const auto may_hold = [&](const FileState& file) {
    return file.spec ? file.spec->spec.kind == kind
                     : file.rejected->kind == kind || file.rejected->kind.empty();
  };
  for (const auto& dir : scan.dirs) {
    for (const auto& file : dir->files) {
      const bool recent = age_of(file->file.signature, now) < quiet_period.count();
      if (recent && may_hold(file->file)) return true;
    }
  }
  return false;
}

/// Returns whether waiting is futile: a name is invalid, or its kind exists without the device.
inline bool cannot_succeed(const Scan& scan, const std::vector<Unresolved>& missing,
                           bool fail_on_unknown_device, std::chrono::milliseconds quiet_period) {
  for (const auto& one : missing) {
    if (one.reason == Reason::invalid_name) return true;
    const bool unknown = one.reason == Reason::unknown_device && one.causes.empty();
    if (fail_on_unknown_device && unknown && !recently_changed(scan, one.name, quiet_period)) {
      return true;
    }
  }
  return false;
}

}  // namespace cdi::detail

#endif  // CDI_DIRS_WAITING_HPP
