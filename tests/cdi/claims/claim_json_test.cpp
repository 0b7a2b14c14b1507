// Tests for include/cdi/claims/claim_json.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
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
          .spec_dir = "/run/cdi",
          .options = {{"profile", "all"}},
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

const std::string good_text =
    R"({"version":1,"uid":"a","phase":"prepared","kind":"v.com/c","options":{},)"
    R"("devices":[{"name":"GPU-1"}]})";

/// Why `good_text` is not a claim with this change.
std::string reason_for(const std::string& from, const std::string& into) {
  auto text = good_text;
  text.replace(text.find(from), from.size(), into);
  return reason(text);
}

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

TEST_CASE("Members that are empty are left out") {
  const auto text =
      cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {{.name = "card0"}}});
  REQUIRE(text);
  CHECK(*text == R"({
  "version": 1,
  "uid": "a",
  "phase": "preparing",
  "kind": "v.com/c",
  "devices": [
    {
      "name": "card0"
    }
  ]
}
)");
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

TEST_CASE("Damaged texts, and those of later versions, are not claims") {
  REQUIRE(cdi::parse_claim(good_text, "a.json"));
  for (std::size_t size = 0; size < good_text.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(cdi::parse_claim(good_text.substr(0, size), "a.json"));
  }
  for (const auto* const later : {":2,", R"(:2,"more":[{}],)"}) {
    CHECK(reason_for(":1,", later).find("a newer version of this program") != std::string::npos);
  }
  for (const auto* const bad : {"[]", "{}", "1", R"({"version":1})"}) CHECK(reason(bad) != "");
}

TEST_CASE("The error of a damaged text says where the damage is") {
  using Row = std::array<std::string, 3>;  // a part of the text, what replaces it, and the error
  for (const auto& [from, into, why] :
       {Row{"name", "nme", "a.json:1:85: devices[0].nme: unknown field"},
        Row{":1,", R"(:"1",)", "a.json:1:12: version: expected an integer"},
        Row{":1,", ":0,", "it is damaged"}, Row{"prepared", "ready", "it is damaged"},
        Row{R"("phase":"prepared",)", "", "phase: the required field is missing"},
        Row{"[{", "[{}, {", "devices[0].name: the required field is missing"},
        Row{R"({"name":"GPU-1"})", "", "claim a has no device"},
        Row{R"("a")", R"("a/b")", "is not the UID of a claim"},
        Row{"v.com/c", "v.com", "is not a kind of devices"},
        Row{"GPU-1", "GPU 1", "CDI does not allow this name"},
        Row{"{},", "[],", "options: expected an object"}}) {
    const auto found = reason_for(from, into);
    CHECK_MESSAGE(found.find(why) != std::string::npos, found);
  }
  CHECK_FALSE(cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {{.name = "\xff"}}}));
}

TEST_CASE("A damaged text may still name the directory of its spec") {
  using cdi::detail::named_spec_dir;
  CHECK(named_spec_dir(R"({"version":1,"options":{},"spec_dir": "/run/cdi","x)") == "/run/cdi");
  for (const auto* const bad :
       {"", R"("spec_dir")", R"("spec_dir":)", R"("spec_dir":"/ru)", R"("spec_dir":"run")",
        R"("spec_dir":"/a/../b")", R"("spec_dir" 1 "/run/cdi")", R"("spec_dir":"/a\n")"}) {
    CAPTURE(bad);
    CHECK(named_spec_dir(bad).empty());
  }
}
