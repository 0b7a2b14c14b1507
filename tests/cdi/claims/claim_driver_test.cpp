// Tests for include/cdi/claims/claim_driver.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <doctest/doctest.h>

#include <cdi/claims/claim_driver.hpp>

namespace {

class PlainDriver final : public cdi::ClaimDriver {
 public:
  cdi::Result<cdi::Spec> make_spec(cdi::Claim&, const cdi::Spec*) override { return cdi::Spec{}; }
};

}  // namespace

TEST_CASE("The devices of a plain driver differ by name and need no preparation") {
  PlainDriver driver;
  const cdi::ClaimedDevice one{.name = "card0"};
  const cdi::ClaimedDevice same{.request = "other", .name = "card0"};
  const cdi::ClaimedDevice other{.name = "card1"};
  CHECK(driver.is_same(one, same));
  CHECK(driver.overlaps(one, same));
  CHECK(driver.excludes(one, same));
  CHECK_FALSE(driver.is_same(one, other));
  CHECK_FALSE(driver.overlaps(one, other));
  CHECK_FALSE(driver.excludes(one, other));
  CHECK(*driver.acquire({}, one) == cdi::Acquired::unchanged);
  CHECK(driver.release({}, one));
  CHECK(driver.makes_ready());  // until it says otherwise
  CHECK(driver.may_stay({}, {}));
  CHECK(driver.advice_for_lost_spec({}).empty());
}
