// Tests for include/cdi/dirs/scan_ledger.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <memory>

#include <doctest/doctest.h>

#include <cdi/dirs/scan_ledger.hpp>
#include <cdi/dirs/scanner.hpp>

namespace {

using cdi::detail::Scan;
using cdi::detail::ScanLedger;
using cdi::detail::ScanScope;
using namespace std::chrono_literals;

std::shared_ptr<const Scan> new_scan() {
  return std::make_shared<const Scan>();
}

}  // namespace

TEST_CASE("The first scan is kept, and the next one builds on it") {
  ScanLedger ledger;
  CHECK(ledger.last() == nullptr);
  const auto first = ledger.begin(ScanScope::everything);
  CHECK(first.before == nullptr);
  const auto scan = new_scan();
  ledger.finish(scan, first);
  CHECK(ledger.last() == scan);
  CHECK(ledger.begin(ScanScope::everything).before == scan);
}

TEST_CASE("Of two concurrent scans the one that began later is kept, whichever ends last") {
  for (const bool later_ends_last : {false, true}) {
    CAPTURE(later_ends_last);
    ScanLedger ledger;
    const auto early = ledger.begin(ScanScope::everything);
    const auto late = ledger.begin(ScanScope::everything);
    const auto of_early = new_scan();
    const auto of_late = new_scan();
    if (!later_ends_last) ledger.finish(of_late, late);
    ledger.finish(of_early, early);
    if (later_ends_last) ledger.finish(of_late, late);
    CHECK(ledger.last() == of_late);
  }
}

TEST_CASE("A scan that covers more changes is kept, though another one began later") {
  ScanLedger ledger;
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  ledger.report_change();
  const auto full = ledger.begin(ScanScope::everything);
  const auto partial = ledger.begin(ScanScope::unwatched);
  const auto of_full = new_scan();
  ledger.finish(of_full, full);
  ledger.finish(new_scan(), partial);
  CHECK(ledger.last() == of_full);
}

TEST_CASE("A partial scan does not make a scan of everything look older") {
  ScanLedger ledger;
  const auto scan = new_scan();
  ledger.finish(scan, ledger.begin(ScanScope::everything));
  const auto partial = ledger.begin(ScanScope::unwatched);
  const auto early = ledger.begin(ScanScope::everything);
  ledger.report_change();
  const auto late = ledger.begin(ScanScope::everything);
  ledger.finish(scan, late);  // it found nothing new
  const auto of_partial = new_scan();
  ledger.finish(of_partial, partial);
  CHECK(ledger.last() == of_partial);
  CHECK(ledger.needed_scope(1h) == ScanScope::unwatched);
  ledger.finish(new_scan(), early);
  CHECK(ledger.last() == of_partial);
}

TEST_CASE("Everything is checked after a change until a scan that began later has ended") {
  ScanLedger ledger;
  CHECK(ledger.needed_scope(1h) == ScanScope::everything);  // there was no scan yet
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  CHECK(ledger.needed_scope(1h) == ScanScope::unwatched);
  const auto before = ledger.begin(ScanScope::everything);
  ledger.report_change();
  CHECK(ledger.needed_scope(1h) == ScanScope::everything);
  ledger.finish(new_scan(), before);
  CHECK(ledger.needed_scope(1h) == ScanScope::everything);
  ledger.finish(new_scan(), ledger.begin(ScanScope::unwatched));
  CHECK(ledger.needed_scope(1h) == ScanScope::everything);
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  CHECK(ledger.needed_scope(1h) == ScanScope::unwatched);
}

TEST_CASE("Everything is checked when the last scan of everything is too old") {
  ScanLedger ledger;
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  ledger.finish(new_scan(), ledger.begin(ScanScope::unwatched));
  CHECK(ledger.needed_scope(0s) == ScanScope::everything);
  CHECK(ledger.needed_scope(1h) == ScanScope::unwatched);
}

TEST_CASE(
    "A scan of what is not watched does not replace a scan of everything that it did not see") {
  ScanLedger ledger;
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  const auto full = ledger.begin(ScanScope::everything);
  const auto partial = ledger.begin(ScanScope::unwatched);
  const auto of_full = new_scan();
  ledger.finish(of_full, full);
  ledger.finish(new_scan(), partial);
  CHECK(ledger.last() == of_full);
  const auto next = new_scan();
  ledger.finish(next, ledger.begin(ScanScope::unwatched));
  CHECK(ledger.last() == next);
}

// Once, a thread that waited for a name, and scanned again and again, kept the others from it.
TEST_CASE("A scan of everything counts only once it is kept") {
  ScanLedger ledger;
  ledger.begin(ScanScope::everything);
  CHECK(ledger.needed_scope(1h) == ScanScope::everything);
  ledger.finish(new_scan(), ledger.begin(ScanScope::everything));
  const auto later = std::chrono::steady_clock::now() + 2ms;
  while (std::chrono::steady_clock::now() < later) {
  }
  ledger.begin(ScanScope::everything);  // of a round that is not the last one
  CHECK(ledger.needed_scope(1ms) == ScanScope::everything);
  CHECK(ledger.needed_scope(1h) == ScanScope::unwatched);
}
