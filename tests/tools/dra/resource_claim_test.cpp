// ResourceClaims as JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/claims/resource_claim.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace dra;

namespace {

/// A claim with these members of `status.allocation.devices`.
std::string claim_with(std::string_view devices, std::string_view version = "v1") {
  return std::string{R"({"apiVersion": "resource.k8s.io/)"}
      .append(version)
      .append(R"(", "kind": "ResourceClaim", "spec": {"devices": 1},
                "metadata": {"name": "one", "namespace": "team", "uid": "u-1"},
                "status": {"allocation": {"devices": {)")
      .append(devices)
      .append("}}}}");
}

std::string error_of(std::string_view text) {
  const auto claims = parse_resource_claims(text, "gpu.example.com", "f.json");
  return claims ? "" : to_string(claims.error());
}

}  // namespace

TEST_CASE("dra: a claim has the devices of one driver") {
  for (const auto* version : {"v1", "v1beta2", "v1beta1"}) {
    const auto claim = parse_resource_claim(claim_with(R"("results": [
             {"request": "a/b", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0",
              "adminAccess": true, "shareID": "s", "tolerations": []},
             {"request": "c", "driver": "other.example.com", "pool": "n", "device": "d"},
             {"request": "c", "driver": "gpu.example.com", "pool": "n", "device": "gpu-1"}])",
                                                       version),
                                            "gpu.example.com", "f.json");
    REQUIRE(claim);
    CHECK(claim->name_space == "team");
    CHECK(claim->name == "one");
    CHECK(claim->uid == "u-1");
    CHECK(claim->is_allocated);
    CHECK(claim->devices ==
          std::vector<AllocatedDevice>{
              {.request = "a/b",
               .pool = "n",
               .device = "gpu-0",
               .share_id = "s",
               .admin_access = true,
               .driver = "gpu.example.com"},
              {.request = "c", .pool = "n", .device = "gpu-1", .driver = "gpu.example.com"}});
  }
}

TEST_CASE("dra: parameters of a class come before the claim's") {
  const auto claim = parse_resource_claim(claim_with(R"("config": [
          {"source": "FromClaim", "requests": ["a"],
           "opaque": {"driver": "gpu.example.com", "parameters": {"x": ["}\"", {}], "y": 1}}},
          {"source": "FromClass", "opaque": {"parameters": 17 , "driver": "gpu.example.com"}},
          {"source": "FromClass", "opaque": {"driver": "other.example.com", "parameters": 1}},
          {"source": "FromClass", "opaque": {"parameters": 18, "driver": "gpu.example.com"}},
          {"source": "FromClass", "later": {}}])"),
                                          "gpu.example.com", "f.json");
  REQUIRE(claim);
  REQUIRE(claim->config.size() == 3);
  CHECK(claim->config[0].from_class);
  CHECK(claim->config[0].value.text == "17");
  CHECK(claim->config[0].path == "status.allocation.devices.config[1].opaque.parameters");
  CHECK(claim->config[1].value.text == "18");
  CHECK_FALSE(claim->config[2].from_class);
  CHECK(claim->config[2].requests == std::vector<std::string>{"a"});
  CHECK(claim->config[2].value.members.at(1).key == "y");
}

TEST_CASE("dra: a claim without an allocation") {
  const auto claim = parse_resource_claim(
      R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
          "metadata": {"name": "one", "uid": "u"}, "status": {"allocation": null}})",
      "d", "f.json");
  REQUIRE(claim);
  CHECK_FALSE(claim->is_allocated);
  CHECK(claim->name_space == "default");
}

TEST_CASE("dra: an error names the member of the claim") {
  CHECK(error_of("[]").find("expected an object, not a list") != std::string::npos);
  CHECK(error_of("{").starts_with("f.json:1:"));
  CHECK(error_of("{}") == "f.json: kind: must be ResourceClaim");
  const auto in_devices = [](std::string_view devices) {
    return error_of(claim_with(devices));
  };
  const std::string path = "status.allocation.devices.";
  const auto has = [&](std::string_view devices, std::string_view text) {
    CAPTURE(in_devices(devices));
    return in_devices(devices).find(path + std::string{text}) != std::string::npos;
  };
  CHECK(has(R"("results": {})", "results: expected a list"));
  CHECK(has(R"("results": [{}])", "results[0].request: the required field is missing"));
  CHECK(error_of(claim_with(R"("results": [{}])")).starts_with("f.json:3:"));
  CHECK(has(R"("results": [{"driver": "gpu.example.com", "request": 1}])",
            "results[0].request: expected text, not 1"));
  CHECK(has(R"("results": [{"driver": "gpu.example.com", "request": "a", "pool": "p",
                            "device": "d", "adminAccess": "yes"}])",
            "results[0].adminAccess: expected true or false"));
  CHECK(has(R"("config": [{"opaque": {"driver": "gpu.example.com", "parameters": {}}}])",
            "config[0].source: the required field is missing"));
  CHECK(has(R"("config": [{"source": "FromClass", "opaque": {"driver": "gpu.example.com"}}])",
            "config[0].opaque.parameters: the required field is missing"));
}

TEST_CASE("dra: lists of claims") {
  const std::string item = R"({"metadata": {"name": "one", "uid": "u"}})";
  const auto list = parse_resource_claims(
      R"({"kind": "ResourceClaimList", "apiVersion": "resource.k8s.io/v1", "items": [)" + item +
          "," + item + "]}",
      "d", "f.json");
  REQUIRE(list);
  CHECK(list->size() == 2);
  CHECK(error_of(R"({"kind": "List", "apiVersion": "v1", "items": [)" + item + "]}")
            .find("items[0].kind: must be ResourceClaim") != std::string::npos);
  CHECK_FALSE(parse_resource_claim(R"({"kind": "List", "items": []})", "d", "f.json"));
}
