// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_json.hpp>

namespace {

cdi::Claim full_claim() {
  return {.uid = "6a1f",
          .name_space = "default",
          .name = "train \"1\"",
          .phase = cdi::Claim::Phase::removing,
          .kind = "vendor.com/claim",
          .boot_id = "boot",
          .newest_version = "0.6.0",
          .options = {{"output_dir", "/run/cdi"}},
          .devices = {{.request = "gpu/small",
                       .requested = "0",
                       .name = "card0",
                       .identity = {{"serial", "s0"}, {"empty", ""}},
                       .share_id = "share",
                       .admin_access = true},
                      {.name = "card1"}}};
}

std::string reason(const std::string& text) {
  const auto claim = cdi::parse_claim(text, "a.json");
  return claim ? "" : to_string(claim.error());
}

/// A claim as cdi-prepare 0.1 wrote it; the last members were added later.
const std::string old_text =
    R"({"version":1,"uid":"a","namespace":"","name":"","kind":"v.com/c","boot_id":"b",)"
    R"("phase":"prepared","holds":{},"devices":[{"request":"","asked":"0","kind":"v.com/gpu",)"
    R"("name":"GPU-1","id":"GPU-1","suffix":"","pci_address":"0000:01:00.0","pci_id":"10de:1",)"
    R"("by_iommufd":false}]})";

}  // namespace

TEST_CASE("A claim reads back") {
  const auto claim = full_claim();
  const auto text = cdi::claim_to_json(claim);
  REQUIRE(text);
  CHECK(text->ends_with("}\n"));
  const auto again = cdi::parse_claim(*text, "a.json");
  REQUIRE_MESSAGE(again, (again ? "" : to_string(again.error())));
  CHECK(*again == claim);
}

TEST_CASE("Members that are empty are left out, so that earlier versions read the text") {
  const auto text =
      cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {{.name = "card0"}}});
  REQUIRE(text);
  for (const auto* const key : {"share_id", "admin_access", "newest_release"}) {
    CHECK(text->find(key) == std::string::npos);
  }
}

TEST_CASE("A claim of an earlier version is read") {
  const auto claim = cdi::parse_claim(old_text, "a.json");
  REQUIRE_MESSAGE(claim, (claim ? "" : to_string(claim.error())));
  CHECK(claim->newest_version.empty());
  const auto& device = claim->devices.at(0);
  CHECK(device.requested == "0");
  CHECK(device.identity.at("pci_address") == "0000:01:00.0");
  CHECK(device.identity.at("by_iommufd") == "false");
}

TEST_CASE("A key that the journal needs cannot be an identity") {
  for (const auto* const key : {"request", "asked", "name", "share_id", "admin_access"}) {
    CAPTURE(key);
    cdi::Claim claim{
        .uid = "a", .kind = "v.com/c", .devices = {{.name = "card0", .identity = {{key, ""}}}}};
    const auto text = cdi::claim_to_json(claim);
    REQUIRE_FALSE(text);
    CHECK(text.error().code == cdi::Errc::invalid);
  }
  CHECK_FALSE(cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {{.name = "\xff"}}}));
}

TEST_CASE("A claim that could not be read again has no text") {
  const cdi::Claim good{.uid = "a", .kind = "v.com/c", .devices = {{.name = "card0"}}};
  CHECK(cdi::claim_to_json(good));
  const auto code = [&](auto&& change) {
    auto claim = good;
    change(claim);
    const auto text = cdi::claim_to_json(claim);
    return text ? cdi::Errc{} : text.error().code;
  };
  CHECK(code([](cdi::Claim& claim) { claim.uid = "a/b"; }) == cdi::Errc::invalid);
  CHECK(code([](cdi::Claim& claim) { claim.kind.clear(); }) == cdi::Errc::invalid);
  CHECK(code([](cdi::Claim& claim) { claim.devices.clear(); }) == cdi::Errc::invalid);
  CHECK(code([](cdi::Claim& claim) { claim.devices[0].name = "a b"; }) == cdi::Errc::invalid);
  CHECK(code([](cdi::Claim& claim) { claim.name.resize(1 << 20, 'x'); }) == cdi::Errc::limit);
}

TEST_CASE("Damaged texts, and those of later versions, are no claims") {
  for (std::size_t size = 0; size < old_text.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(cdi::parse_claim(old_text.substr(0, size), "a.json"));
  }
  auto later = old_text;
  later.replace(later.find(":1,"), 3, ":2,");
  CHECK(reason(later).find("a newer version of this program wrote it") != std::string::npos);
  for (const std::string bad : {"[]", "{}", "1", R"({"version":"1"})"}) {
    CHECK(reason(bad).find("damaged") != std::string::npos);
  }
  for (const auto& change : {std::pair<std::string, std::string>{"\"a\"", "\"a/b\""},
                             {"v.com/c", "v.com"},
                             {"prepared", "ready"},
                             {"[{", "[{}, {"},
                             {"\"GPU-1\"", "\"GPU 1\""},
                             {"{},", "[],"}}) {
    CAPTURE(change.first);
    auto bad = old_text;
    bad.replace(bad.find(change.first), change.first.size(), change.second);
    CHECK(reason(bad).find("damaged") != std::string::npos);
  }
}

TEST_CASE("A damaged text may still name the directory of its spec") {
  using cdi::detail::named_spec_dir;
  CHECK(named_spec_dir(R"({"version":1,"holds":{"output_dir": "/run/cdi","x)") == "/run/cdi");
  for (const auto* const bad :
       {"", R"("output_dir")", R"("output_dir":)", R"("output_dir":"/ru)", R"("output_dir":"run")",
        R"("output_dir":"/a/../b")", R"("output_dir" 1 "/run/cdi")", R"("output_dir":"/a\n")"}) {
    CAPTURE(bad);
    CHECK(named_spec_dir(bad).empty());
  }
}
