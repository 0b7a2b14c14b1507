// Tests for include/cdi/claims/claim.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/claims/claim.hpp>

TEST_CASE("The names of a claim contain its UID") {
  const cdi::Claim claim{.uid = "6a1f", .kind = "vendor.com/claim"};
  CHECK(claim.file_name() == "vendor.com-claim_6a1f.json");
  CHECK(claim.device_name(1) == "6a1f-1");
  CHECK(claim.device_id(0) == "vendor.com/claim=6a1f-0");
  CHECK(cdi::is_spec_of_claim("6a1f", "/var/run/cdi/" + claim.file_name()));
  CHECK_FALSE(cdi::is_spec_of_claim("a1f", claim.file_name()));
}

TEST_CASE("A UID fits into the names of files and devices") {
  CHECK(cdi::is_claim_uid("0a4b7f2e-0000-4000-8000-000000000001"));
  CHECK(cdi::is_claim_uid(std::string(56, 'a')));
  for (const std::string bad : {"", "-a", "a-", "a/b", "..", "a.b", "a_b", "a:b", "a b"}) {
    CAPTURE(bad);
    CHECK_FALSE(cdi::is_claim_uid(bad));
  }
  CHECK_FALSE(cdi::is_claim_uid(std::string(57, 'a')));
}

TEST_CASE("The file of a claim in a journal has the name of its UID") {
  CHECK(cdi::uid_of_claim_file("6a1f.json") == "6a1f");
  for (const auto* const other :
       {"", ".json", ".lock", "6a1f", "6a1f.yaml", "a.b.json", "-.json"}) {
    CAPTURE(other);
    CHECK(cdi::uid_of_claim_file(other).empty());
  }
}

TEST_CASE("The text of a claim names its devices") {
  cdi::Claim claim;
  CHECK(to_string(claim).empty());
  claim.devices = {{.name = "card0"}, {.request = "extra", .name = "card1"}};
  CHECK(to_string(claim) == "card0, card1@extra");
}
