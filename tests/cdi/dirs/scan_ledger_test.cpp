// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <memory>

#include <doctest/doctest.h>

#include <cdi/dirs/scan_ledger.hpp>
#include <cdi/dirs/scanner.hpp>

namespace {

using cdi::detail::LookAt;
using cdi::detail::Scan;
using cdi::detail::ScanLedger;
using namespace std::chrono_literals;

std::shared_ptr<const Scan> new_scan() {
  return std::make_shared<const Scan>();
}

}  // namespace

TEST_CASE("The first scan is kept, and the next one builds on it") {
  ScanLedger ledger;
  CHECK(ledger.last() == nullptr);
  const auto first = ledger.begin(LookAt::everything);
  CHECK(first.before == nullptr);
  const auto scan = new_scan();
  ledger.finish(scan, first);
  CHECK(ledger.last() == scan);
  CHECK(ledger.begin(LookAt::everything).before == scan);
}

TEST_CASE("Of two scans at a time the one that began later is kept, whichever ends last") {
  for (const bool later_ends_last : {false, true}) {
    CAPTURE(later_ends_last);
    ScanLedger ledger;
    const auto early = ledger.begin(LookAt::everything);
    const auto late = ledger.begin(LookAt::everything);
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
  ledger.finish(new_scan(), ledger.begin(LookAt::everything));
  ledger.report_change();
  const auto full = ledger.begin(LookAt::everything);
  const auto partial = ledger.begin(LookAt::what_is_not_watched);
  const auto of_full = new_scan();
  ledger.finish(of_full, full);
  ledger.finish(new_scan(), partial);
  CHECK(ledger.last() == of_full);
}

TEST_CASE("Everything is checked after a change until a scan that began later has ended") {
  ScanLedger ledger;
  CHECK(ledger.needed(1h) == LookAt::everything);  // there was no scan yet
  ledger.finish(new_scan(), ledger.begin(LookAt::everything));
  CHECK(ledger.needed(1h) == LookAt::what_is_not_watched);
  const auto before = ledger.begin(LookAt::everything);
  ledger.report_change();
  CHECK(ledger.needed(1h) == LookAt::everything);
  ledger.finish(new_scan(), before);
  CHECK(ledger.needed(1h) == LookAt::everything);
  ledger.finish(new_scan(), ledger.begin(LookAt::what_is_not_watched));
  CHECK(ledger.needed(1h) == LookAt::everything);
  ledger.finish(new_scan(), ledger.begin(LookAt::everything));
  CHECK(ledger.needed(1h) == LookAt::what_is_not_watched);
}

TEST_CASE("Everything is checked when the last scan of everything is too old") {
  ScanLedger ledger;
  ledger.finish(new_scan(), ledger.begin(LookAt::everything));
  ledger.finish(new_scan(), ledger.begin(LookAt::what_is_not_watched));
  CHECK(ledger.needed(0s) == LookAt::everything);
  CHECK(ledger.needed(1h) == LookAt::what_is_not_watched);
}
