// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/claims/claim_specs.hpp>

#include "../../support/card_driver.hpp"

namespace {

struct Specs : ClaimTree {
  CardDriver driver{};
  cdi::detail::ClaimSpecs specs{driver, "me", this->ClaimTree::specs()};
  cdi::Claim claim{.uid = "a", .kind = "vendor.com/claim", .devices = {card("0")}};
  cdi::Spec spec = *driver.make_spec(claim, nullptr);
};

}  // namespace

TEST_CASE("The spec of a claim is written, read and removed") {
  const Specs at;
  CHECK(at.specs.check_writable(at.claim, at.spec));
  CHECK(get_file(at.spec_path("a")) == "not read");
  CHECK_FALSE(at.specs.read(at.claim));
  REQUIRE(at.specs.write(at.claim, at.spec));
  CHECK(at.specs.check_writable(at.claim, at.spec));
  CHECK(at.specs.read(at.claim)->devices == at.spec.devices);
  CHECK(get_file(at.spec_path("a")).find("card0") != std::string::npos);
  CHECK(at.specs.remove(at.claim));
  CHECK(at.specs.remove(at.claim));
  CHECK(get_file(at.spec_path("a")) == "not read");
}

TEST_CASE("The option of a claim decides on the directory") {
  Specs at;
  at.claim.options["output_dir"] = at / "other";
  CHECK(at.specs.directory_of(at.claim) == at / "other");
  REQUIRE(at.specs.write(at.claim, at.spec));
  CHECK(get_file(at / "other/vendor.com-claim_a.json") != "not read");
}

TEST_CASE("Pruning keeps files of claims, even of those that cannot be read") {
  Specs at;
  for (const auto* const uid : {"a", "b", "c"}) {
    at.claim.uid = uid;
    REQUIRE(at.specs.write(at.claim, *at.driver.make_spec(at.claim, nullptr)));
  }
  put_file(at.ClaimTree::specs() + "/foreign.json", "{}");
  REQUIRE(at.specs.prune(at.ClaimTree::specs(), {"vendor.com-claim_a.json"}, {"b"}));
  CHECK(get_file(at.spec_path("a")) != "not read");
  CHECK(get_file(at.spec_path("b")) != "not read");
  CHECK(get_file(at.spec_path("c")) == "not read");
  CHECK(get_file(at.ClaimTree::specs() + "/foreign.json") == "{}");
}
