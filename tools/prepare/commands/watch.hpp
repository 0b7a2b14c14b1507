// The command `watch`: keeps the specs up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <cdi/files/descriptor.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/directory_lock.hpp"
#include "../../gpu/host/uevents.hpp"
#include "../../gpu/survey/survey.hpp"
#include "command.hpp"
#include "make_nodes.hpp"
#include "output.hpp"
#include "spec_lock.hpp"
#include "write.hpp"

namespace prepare {

/// The options of `watch`.
struct WatchOptions {
  double interval = 10;                                    // seconds between surveys
  std::chrono::milliseconds max_wait = prepare::max_wait;  // for the lock
};

/// Writes the specs when the host changes.
class SpecKeeper {
 public:
  SpecKeeper(const Options& options, const WatchOptions& own)
      : given_{options},
        interval_{static_cast<long>(own.interval * 1000)},
        max_wait_{own.max_wait},
        versions_{versions_from(options)} {}

  /// Surveys the host, and writes the specs if the state is stable: equal in two surveys, or in
  /// three if GPUs are changing state, because a failed GPU may remain in that state. Returns the
  /// time until the next survey. Each survey keeps the options that `write` has recorded since.
  std::chrono::milliseconds survey();

 private:
  /// Returns false if the directory must be made first, before another survey.
  bool publish(Survey survey, DirectoryLock lock);

  /// Whether another process holds the lock, within its time limit.
  bool must_wait(const DirectoryLock& lock);

  void make_nodes();

  /// Prints messages, unless they equal the last report.
  static void report_news(const Messages& messages, Messages& last);

  const Options& given_;
  Options options_{given_};  // and options that spec files record
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds max_wait_;
  tools::EngineVersions versions_;
  NvmlMemory nvml_{};
  std::string seen_{};
  int same_surveys_ = 0;                // with the same result
  Missing directory_ = Missing::stays;  // when the next survey locks it
  std::chrono::steady_clock::time_point last_free_ = std::chrono::steady_clock::now();
  Messages busy_{};  // about the lock
  UnmadeNodes unmade_{};
  Messages make_error_{};  // why no node was tried
  Messages reported_{};
};

/// Waits for an event for at most `timeout`, and then until events stop: loading a driver causes
/// many. Returns false if the program should end.
bool wait_for_change(const cdi::Descriptor& signals, std::optional<Uevents>& uevents,
                     std::chrono::milliseconds timeout);

/// Whether devices may have subsystems that only a vendor file knows.
bool has_vendor_files(const Options& options);

}  // namespace prepare
