// ResourceClaims from a folder.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/claims/claim_folder.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../support/temp_tree.hpp"

using namespace dra;

namespace {

constexpr auto never = ClaimSource::Deadline::max();

std::string claim_text(const std::string& name, const std::string& uid) {
  return R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"name": ")" +
         name + R"(", "namespace": "team", "uid": ")" + uid + R"("}, "status": {}})";
}

/// A folder of claims.
struct Folder {
  void put(const std::string& file, const std::string& text) { put_file(tree / file, text); }

  /// The error for a claim; empty if it is found.
  std::string error_of(const std::string& name, const std::string& uid) {
    const auto claim = claims.get({"team", name, uid}, never);
    return claim ? "" : to_string(claim.error());
  }

  TempTree tree{};
  ClaimFolder claims{tree / "", "gpu.example.com"};
};

}  // namespace

TEST_CASE("dra: the claims of a folder, whatever the names of its files") {
  Folder folder;
  folder.put("a.json", claim_text("one", "u1"));
  folder.put("z.json", claim_text("two", "u2"));
  folder.put(".hidden.json", "{");
  folder.put("text.txt", "{");
  const auto found = folder.claims.get_all(
      {{"team", "two", "u2"}, {"team", "three", "u3"}, {"team", "one", "u1"}}, never);
  REQUIRE(found.size() == 3);
  CHECK(found[0]->uid == "u2");
  CHECK(found[1].error().code == cdi::Errc::not_found);
  CHECK(found[2]->uid == "u1");
  CHECK(folder.error_of("two", "u1").find("has the UID \"u2\"") != std::string::npos);
  const auto elsewhere = folder.claims.get({"other", "two", "u2"}, never);
  REQUIRE_FALSE(elsewhere);
  CHECK(elsewhere.error().code == cdi::Errc::not_found);
}

TEST_CASE("dra: a damaged file is not an error for claims of other files") {
  Folder folder;
  folder.put("a.json", "{");
  folder.put("b.json", claim_text("one", "u1"));
  CHECK(folder.error_of("one", "u1").empty());
  CHECK(folder.error_of("two", "u2").find("a.json:1:") != std::string::npos);
  folder.tree.make_dir("c.json");
  CHECK(folder.error_of("two", "u2").find("a.json:1:") != std::string::npos);
}

TEST_CASE("dra: of two claims with a name, the one with the UID counts") {
  Folder folder;
  folder.put("a.json", claim_text("one", "old"));
  folder.put("b.json", claim_text("one", "new"));
  CHECK(folder.error_of("one", "new").empty());
  CHECK(folder.error_of("one", "old").empty());
  folder.put("c.json", claim_text("one", "new"));
  CHECK(folder.error_of("one", "new").find("is also in") != std::string::npos);
  folder.put("d.json", claim_text("one", "new"));
  CHECK(folder.error_of("one", "new").find("is also in") != std::string::npos);
  folder.put("e.json", claim_text("one", "old"));
  CHECK(folder.error_of("one", "new").find("is also in") != std::string::npos);
}

TEST_CASE("dra: a folder that is gone, and a deadline that has passed") {
  Folder folder;
  folder.put("a.json", claim_text("one", "u1"));
  const auto late = folder.claims.get({"team", "one", "u1"}, std::chrono::steady_clock::now());
  REQUIRE_FALSE(late);
  CHECK(late.error().code == cdi::Errc::timeout);
  ClaimFolder gone{folder.tree / "none", "d"};
  CHECK(gone.get({"team", "one", "u1"}, never).error().code == cdi::Errc::system);
}
