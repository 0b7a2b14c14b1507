// Tests for include/cdi/claims/claim_specs.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <string>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/claims/claim_specs.hpp>

#include "../../support/card_driver.hpp"

namespace {

/// Opens the directory of specs by a path that has another meaning in messages, as for a host whose
/// root is mounted elsewhere.
class MountedHost final : public cdi::ClaimDriver {
 public:
  cdi::Result<cdi::Spec> make_spec(cdi::Claim& claim, const cdi::Spec* old) override {
    return cards.make_spec(claim, old);
  }

  cdi::Result<cdi::ClaimDirectory> open_spec_dir(const std::string& path,
                                                 cdi::MissingDirectory missing) override {
    auto opened = cdi::open_claim_directory(path, missing);
    if (opened) opened->path = "/elsewhere";
    return opened;
  }

  CardDriver cards{};
};

struct Specs : ClaimTree {
  CardDriver driver{};
  cdi::ClaimJournal lock = journal();
  cdi::detail::ClaimSpecs specs{driver, lock, "me", this->ClaimTree::specs()};
  cdi::Claim claim{.uid = "a", .kind = "vendor.com/claim", .devices = {card("0")}};
  cdi::Spec spec = *driver.make_spec(claim, nullptr);
};

bool next_listing_fails = false;

}  // namespace

// Replaces the function of the C library in this program. It cannot call that one: a static program
// has only this function.
extern "C" DIR* fdopendir(int descriptor) {
  if (std::exchange(next_listing_fails, false)) {
    errno = ENOMEM;
    return nullptr;
  }
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  DIR* const opened = ::opendir(path);
  if (opened != nullptr) ::close(descriptor);
  return opened;
}

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
  at.claim.spec_dir = at / "other";
  CHECK(at.specs.directory_of(at.claim) == at / "other");
  REQUIRE(at.specs.write(at.claim, at.spec));
  CHECK(get_file(at / "other/vendor.com-claim_a.json") != "not read");
}

TEST_CASE("A spec is read in the directory that the driver opened") {
  const Specs at;
  MountedHost host;
  const cdi::detail::ClaimSpecs specs{host, at.lock, "me", at.ClaimTree::specs()};
  CHECK(specs.read(at.claim).error().system == ENOENT);
  REQUIRE(specs.write(at.claim, at.spec));
  const auto read = specs.read(at.claim);
  REQUIRE(read);
  CHECK(read->devices == at.spec.devices);
  put_file(at.spec_path("a"), "{");
  CHECK(specs.read(at.claim).error().position.file == "/elsewhere/vendor.com-claim_a.json");
}

TEST_CASE("No spec is written to the directory of the journal") {
  Specs at;
  REQUIRE(::symlink(at.state().c_str(), (at / "link").c_str()) == 0);
  for (const auto& path : {at.state(), at / "link"}) {
    at.claim.spec_dir = path;
    const auto checked = at.specs.check_writable(at.claim, at.spec);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == cdi::Errc::invalid);
    CHECK(checked.error().position.file == path);
    CHECK_FALSE(at.specs.write(at.claim, at.spec));
    CHECK(at.specs.remove(at.claim));
  }
  CHECK(get_file(at.state() + "/vendor.com-claim_a.json") == "not read");
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

TEST_CASE("Pruning removes nothing if it cannot find the files to keep") {
  Specs at;
  REQUIRE(at.specs.write(at.claim, at.spec));
  next_listing_fails = true;  // only once, as when memory is short for a moment
  const auto pruned = at.specs.prune(at.ClaimTree::specs(), {}, {at.claim.uid});
  REQUIRE_FALSE(pruned);
  CHECK(pruned.error().system == ENOMEM);
  CHECK(get_file(at.spec_path("a")) != "not read");
}
