// `ScanLedger`: decides which of several scans at a time is kept.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_SCAN_LEDGER_HPP
#define CDI_DIRS_SCAN_LEDGER_HPP

#include <chrono>
#include <cstdint>
#include <memory>

#include <cdi/dirs/scanner.hpp>
#include <cdi/dirs/thread.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The last scan of some directories, which many threads scan at a time. A scan covers the changes
/// that were reported before it began. A scan of everything replaces the last one if it covers more
/// changes, or as many and began later. Another scan replaces only the one that it began with: it
/// did not check what a scan of everything may have found since.
class ScanLedger {
 public:
  /// The place of a scan among all.
  struct Ticket {
    std::uint64_t number = 0;  // in the order in which scans begin
    std::uint64_t covers = 0;  // reported changes
    std::shared_ptr<const Scan> before{};
    ScanScope scope{};
    std::chrono::steady_clock::time_point began{};  // of a scan of everything
  };

  /// The scan that is kept; null before the first.
  std::shared_ptr<const Scan> last() const {
    const Lock lock{mutex_};
    return last_;
  }

  /// Records a change that inotify reported. No scan that has begun covers it.
  void report_change() {
    const Lock lock{mutex_};
    ++changes_;
  }

  /// What the next scan must check: all, if a change is not covered yet, or if the last scan of
  /// everything is `longest` ago.
  ScanScope needed_scope(std::chrono::steady_clock::duration longest) const {
    const Lock lock{mutex_};
    const bool recent = std::chrono::steady_clock::now() < began_full_ + longest;
    return last_ && changes_ == covered_ && recent ? ScanScope::unwatched : ScanScope::everything;
  }

  /// Begins a scan.
  Ticket begin(ScanScope scope) {
    const Lock lock{mutex_};
    if (scope != ScanScope::everything) return {++begun_, covered_, last_, scope, {}};
    return {++begun_, changes_, last_, scope, std::chrono::steady_clock::now()};
  }

  /// Ends a scan: keeps it, unless the last one is newer.
  void finish(std::shared_ptr<const Scan> scan, const Ticket& ticket) {
    const Lock lock{mutex_};
    if (!is_newer(ticket)) return;
    if (ticket.scope == ScanScope::everything) began_full_ = ticket.began;
    // After a scan that began earlier, a scan of everything may have found nothing new.
    covered_ = ticket.covers > covered_ ? ticket.covers : covered_;
    number_ = ticket.number > number_ ? ticket.number : number_;
    last_.swap(scan);  // the old one is destroyed after the lock: the parameter outlives it
  }

 private:
  bool is_newer(const Ticket& ticket) const {
    if (ticket.scope != ScanScope::everything) return ticket.before == last_;
    return ticket.covers > covered_ || (ticket.covers == covered_ && ticket.number >= number_);
  }

  mutable Mutex mutex_{};  // held for moments only
  std::shared_ptr<const Scan> last_{};
  std::uint64_t number_ = 0;                            // of `last_`
  std::uint64_t covered_ = 0;                           // reported changes that `last_` covers
  std::uint64_t begun_ = 0;                             // scans
  std::uint64_t changes_ = 0;                           // that were reported
  std::chrono::steady_clock::time_point began_full_{};  // the last scan of everything that was kept
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_SCAN_LEDGER_HPP
