// `ScanLedger`: decides which of several concurrent scans is kept.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_SCAN_LEDGER_HPP
#define CDI_DIRS_SCAN_LEDGER_HPP

#include <chrono>
#include <cstdint>
#include <memory>

#include <cdi/base/mutex.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Keeps the last scan of directories that many threads scan concurrently. A scan covers the
/// changes reported before it began. A full scan replaces the last scan if it covers more changes,
/// or the same changes but began later. A partial scan replaces only the scan it began with,
/// because it did not check what a full scan may have found since.
class ScanLedger {
 public:
  /// Identifies a scan among all scans.
  struct Ticket {
    std::uint64_t number = 0;  // in the order in which scans begin
    std::uint64_t covers = 0;  // the number of reported changes
    std::shared_ptr<const Scan> before{};
    ScanScope scope{};
    std::chrono::steady_clock::time_point began{};  // set only for full scans
  };

  /// Returns the scan that is kept; null before the first scan.
  std::shared_ptr<const Scan> last() const {
    const Lock lock{mutex_};
    return last_;
  }

  /// Records a change that inotify reported. No scan that has already begun covers the change.
  void report_change() {
    const Lock lock{mutex_};
    ++changes_;
  }

  /// Returns what the next scan must check: everything if a change is not covered yet or if the
  /// last full scan began `longest` ago or earlier.
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

  /// Ends a scan, and keeps it unless the last scan is newer.
  void finish(std::shared_ptr<const Scan> scan, const Ticket& ticket) {
    const Lock lock{mutex_};
    if (!is_newer(ticket)) return;
    if (ticket.scope == ScanScope::everything) began_full_ = ticket.began;
    // A full scan that finds nothing new keeps `last_`: an older partial scan may still end here.
    covered_ = ticket.covers > covered_ ? ticket.covers : covered_;
    number_ = ticket.number > number_ ? ticket.number : number_;
    last_.swap(scan);  // destroys the old scan after unlocking: the parameter outlives the lock
  }

 private:
  bool is_newer(const Ticket& ticket) const {
    if (ticket.scope != ScanScope::everything) return ticket.before == last_;
    return ticket.covers > covered_ || (ticket.covers == covered_ && ticket.number >= number_);
  }

  mutable Mutex mutex_{};  // only held briefly
  std::shared_ptr<const Scan> last_{};
  std::uint64_t number_ = 0;                            // the ticket number of the scan in `last_`
  std::uint64_t covered_ = 0;                           // reported changes that `last_` covers
  std::uint64_t begun_ = 0;                             // the number of scans begun
  std::uint64_t changes_ = 0;                           // the number of reported changes
  std::chrono::steady_clock::time_point began_full_{};  // the last full scan that was kept
};

}  // namespace cdi::detail

#endif  // CDI_DIRS_SCAN_LEDGER_HPP
