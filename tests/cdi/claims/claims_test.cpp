// Tests for include/cdi/claims/claims.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <climits>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/claims/claim_json.hpp>
#include <cdi/claims/claims.hpp>
#include <cdi/files/file.hpp>

#include "../../support/card_driver.hpp"

namespace {

using Texts = std::vector<std::string>;

/// Claims on a host with two cards. `again` starts the program again, perhaps after a reboot.
struct Host : ClaimTree {
  explicit Host() { again(); }

  void again(const std::string& boot = "boot 1") {
    claims.reset();
    claims.emplace(lock, driver, options(boot));
    REQUIRE(claims->repair());
  }

  /// What happened to a claim: its CDI names, or why it failed.
  std::string prepare(const std::string& uid, std::vector<cdi::ClaimedDevice> cards) {
    const auto claim = claims->prepare(uid, std::move(cards));
    if (!claim) return to_string(claim.error());
    std::string out;
    for (std::size_t i = 0; i < claim->devices.size(); ++i) out += claim->device_id(i) + " ";
    return out;
  }

  std::string node_of(const std::string& uid) const {
    const auto spec = cdi::read_spec_file(spec_path(uid));
    if (!spec) return "";
    return spec->spec.devices.at(0).container_edits.device_nodes.at(0).path;
  }

  bool is_recorded(const std::string& uid) const {
    return get_file(lock.path_of(uid)) != "not read";
  }

  CardDriver driver{};
  cdi::ClaimJournal lock = journal();
  std::optional<cdi::Claims> claims{};
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A claim gets its devices and a spec, until it is unprepared") {
  Host host;
  CHECK(host.prepare("a", {card("0"), card("1", "extra")}) ==
        "vendor.com/claim=a-0 vendor.com/claim=a-1 ");
  CHECK(host.node_of("a") == "/dev/card0");
  CHECK(host.is_recorded("a"));
  CHECK(host.claims->list().at("a").phase == cdi::Claim::Phase::prepared);
  CHECK(host.claims->unprepare("a"));
  CHECK(host.node_of("a").empty());
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.driver.steps ==
        Texts{"acquire card0", "acquire card1", "release card1", "release card0"});
  CHECK(host.claims->unprepare("a"));
  CHECK(host.claims->unprepare("unknown"));
}

TEST_CASE("A claim is recorded before each step, and as prepared if there is nothing to undo") {
  using Phase = cdi::Claim::Phase;
  Host host;
  std::vector<Phase> phases;
  host.driver.at_step = [&] {
    const auto known = host.lock.load();
    REQUIRE(known);
    phases.push_back(known->at("a")->phase);
    CHECK(host.node_of("a").empty());
  };
  for (const bool readies : {true, false}) {
    host.driver.readies = readies;
    host.prepare("a", {card("0")});
    CHECK(host.node_of("a") == "/dev/card0");
    CHECK(host.claims->list().at("a").phase == Phase::prepared);
    CHECK(host.claims->unprepare("a"));
    CHECK_FALSE(host.is_recorded("a"));
  }
  CHECK(phases == std::vector{Phase::preparing, Phase::removing,  //
                              Phase::prepared, Phase::prepared});
}

TEST_CASE(
    "A claim that cannot be given up is recorded as being removed, and the next repair does it") {
  Host host;
  for (const bool readies : {true, false}) {
    host.driver.readies = readies;
    host.prepare("a", {card("0")});
    host.driver.bad_steps = {"release card0"};
    CHECK_FALSE(host.claims->unprepare("a"));
    CHECK(host.lock.load()->at("a")->phase == cdi::Claim::Phase::removing);
    host.driver.bad_steps.clear();
    host.again();
    CHECK(host.claims->list().empty());
    CHECK_FALSE(host.is_recorded("a"));
  }
}

TEST_CASE("A spec that a crash of the system left without its text is written again") {
  Host host;
  host.driver.readies = false;  // its spec is not synced
  host.prepare("a", {card("0")});
  const auto text = get_file(host.spec_path("a"));
  for (const auto& left : {std::string{}, text.substr(0, text.size() / 2), std::string(99, '\0')}) {
    put_file(host.spec_path("a"), left);
    host.again("boot 2");
    CHECK(host.claims->faults().empty());
    CHECK(get_file(host.spec_path("a")) == text);
  }
}

TEST_CASE("With nothing to undo, a claim whose spec cannot be written is not recorded either") {
  Host host;
  host.driver.readies = false;
  host.driver.at_step = [&] {
    ::mkdir(host.specs().c_str(), 0755);
    ::mkdir(host.spec_path("a").c_str(), 0755);
  };
  CHECK(contains(host.prepare("a", {card("0")}), "vendor.com-claim_a.json"));
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.claims->list().empty());
}

TEST_CASE("A repeated call changes nothing, and other devices are a conflict") {
  Host host;
  const auto ids = host.prepare("a", {card("0"), card("1")});
  CHECK(host.prepare("a", {card("1"), card("0")}) == ids);
  CHECK(host.driver.steps.size() == 2);
  CHECK(contains(host.prepare("a", {card("0")}), "already has card0, card1"));
  CHECK(contains(host.prepare("a", {card("0"), card("1", "extra")}), "already has"));
}

TEST_CASE("A claim that monitors two cards does not monitor one of them twice") {
  Host host;
  auto first = card("0");
  auto second = card("1");
  first.admin_access = second.admin_access = true;
  host.prepare("a", {first, second});
  CHECK(contains(host.prepare("a", {first, first}), "already has card0, card1"));
}

TEST_CASE("Two claims never have the same device") {
  Host host;
  host.prepare("a", {card("0")});
  CHECK(host.prepare("b", {card("0")}) == "claim a has device card0: unprepare claim a first");
  CHECK_FALSE(host.is_recorded("b"));
  CHECK(contains(host.prepare("b", {card("1"), card("1")}), "card1: requested twice"));
  cdi::Claim named{.uid = "c", .name_space = "default", .name = "c\n", .devices = {card("1")}};
  REQUIRE(host.claims->prepare(named));
  CHECK(host.prepare("b", {card("1")}) ==
        "claim c (\"default/c\\n\") has device card1: unprepare claim c first");
  REQUIRE(host.claims->unprepare("c"));
  CHECK(host.prepare("b", {card("1")}) == "vendor.com/claim=b-0 ");
}

TEST_CASE("Claims share a device on purpose") {
  Host host;
  auto monitor = card("0");
  monitor.admin_access = true;
  auto first = card("0");
  first.share_id = "1";
  auto second = first;
  second.share_id = "2";
  CHECK(host.prepare("monitor", {monitor}) == "vendor.com/claim=monitor-0 ");
  CHECK(host.prepare("a", {first}) == "vendor.com/claim=a-0 ");
  CHECK(host.prepare("b", {second}) == "vendor.com/claim=b-0 ");
  CHECK(contains(host.prepare("c", {second}), "claim b has device card0"));
  CHECK(contains(host.prepare("c", {card("0")}), "claim a has device card0"));
  host.again();
  CHECK(host.claims->list().size() == 3);
  CHECK(host.claims->list().at("b").devices == std::vector{second});
}

TEST_CASE("A shared device is released with its last user, and a monitor changes nothing") {
  Host host;
  auto monitor = card("0");
  monitor.admin_access = true;
  auto first = card("0");
  first.share_id = "1";
  auto second = first;
  second.share_id = "2";
  host.prepare("monitor", {monitor});
  CHECK(host.driver.steps.empty());
  host.prepare("a", {first});
  host.driver.bad_steps = {"acquire card1"};
  CHECK(host.prepare("b", {second, card("1")}) == "acquire card1 failed");
  CHECK(host.driver.steps ==
        Texts{"acquire card0", "acquire card0", "acquire card1", "release card1"});
  host.driver.bad_steps.clear();
  host.prepare("b", {second});
  host.driver.steps.clear();
  SUBCASE("by a call") {
    CHECK(host.claims->unprepare("a"));
  }
  SUBCASE("by a call that was killed") {
    auto claim = host.claims->list().at("a");
    claim.phase = cdi::Claim::Phase::removing;
    REQUIRE(host.lock.save(claim));
    host.again();
    CHECK_FALSE(host.is_recorded("a"));
  }
  CHECK(host.claims->unprepare("monitor"));
  CHECK(host.driver.steps.empty());
  CHECK(host.claims->unprepare("b"));
  CHECK(host.driver.steps == Texts{"release card0"});
}

TEST_CASE("Wrong claims are refused before anything is written") {
  Host host;
  CHECK(contains(host.prepare("a/b", {card("0")}), "not the UID of a claim"));
  CHECK(contains(host.prepare("a", {}), "has no device"));
  CHECK(contains(host.prepare("a", {card("7")}), "card7 is gone"));
  CHECK(host.driver.steps.empty());
  CHECK(host.claims->list().empty());
  CHECK(host.lock.load()->empty());
}

TEST_CASE("A claim that the journal could not read again is refused before anything is written") {
  Host host;
  const auto refused = [&](const std::string& kind, cdi::ClaimedDevice device) {
    const auto claim =
        host.claims->prepare({.uid = "a", .kind = kind, .devices = {std::move(device)}});
    return claim ? "" : to_string(claim.error());
  };
  auto device = card("0");
  CHECK(contains(refused("vendor", device), "not a kind"));
  device.name = "dri/card0";
  CHECK(contains(refused("", device), "CDI does not allow this name"));
  device = card("0");
  device.identity["text"] = "\xff";
  CHECK(contains(refused("", device), "not UTF-8"));
  device.identity["text"] = std::string(cdi::detail::claim_size_limit, 'x');
  CHECK(contains(refused("", device), "split it"));
  CHECK(host.driver.steps.empty());
  CHECK(host.lock.load()->empty());
}

TEST_CASE("A spec without the names that the claim gives is refused") {
  Host host;
  SUBCASE("of another kind") {
    host.driver.kind = "vendor.com/card";
  }
  SUBCASE("of fewer devices") {
    host.driver.devices = 1;
  }
  CHECK(contains(host.prepare("a", {card("0"), card("1")}), "the driver made a spec"));
  CHECK(host.driver.steps.empty());
  CHECK(host.lock.load()->empty());
}

TEST_CASE("A failed step undoes those before it") {
  Host host;
  host.driver.bad_steps = {"acquire card1"};
  CHECK(host.prepare("a", {card("0"), card("1")}) == "acquire card1 failed");
  CHECK(host.driver.steps ==
        Texts{"acquire card0", "acquire card1", "release card1", "release card0"});
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.node_of("a").empty());
}

TEST_CASE("A device that cannot be released is not given to others") {
  Host host;
  host.prepare("a", {card("0")});
  host.driver.bad_steps = {"release card0"};
  CHECK_FALSE(host.claims->unprepare("a"));
  CHECK(host.node_of("a").empty());
  CHECK(contains(host.prepare("b", {card("0")}), "claim a has device card0"));
  host.again();
  CHECK(host.claims->faults().at("a") == "release card0 failed");
  CHECK(host.prepare("a", {card("0")}) == "release card0 failed");
  host.driver.bad_steps.clear();
  host.again();
  CHECK(host.claims->list().empty());
  CHECK(host.prepare("b", {card("0")}) == "vendor.com/claim=b-0 ");
}

TEST_CASE("A claim whose call was killed is undone") {
  Host host;
  host.prepare("a", {card("0")});
  auto claim = host.claims->list().at("a");
  for (const auto phase : {cdi::Claim::Phase::preparing, cdi::Claim::Phase::removing}) {
    claim.phase = phase;
    REQUIRE(host.lock.save(claim));
    host.driver.steps.clear();
    host.again();
    CHECK(host.claims->list().empty());
    CHECK(host.driver.steps == Texts{"release card0"});
    CHECK(host.node_of("a").empty());
    CHECK_FALSE(host.is_recorded("a"));
  }
}

TEST_CASE("A repair writes specs that are gone or outdated") {
  Host host;
  host.prepare("a", {card("0")});
  REQUIRE(std::remove(host.spec_path("a").c_str()) == 0);
  host.again();
  CHECK(host.node_of("a") == "/dev/card0");
  host.driver.nodes["s0"] = "/dev/card5";
  host.again();
  CHECK(host.node_of("a") == "/dev/card5");
  CHECK(host.driver.steps == Texts{"acquire card0", "acquire card0"});
  host.again("boot 2");
  CHECK(host.driver.steps == Texts{"acquire card0", "acquire card0", "acquire card0"});
  CHECK(host.claims->list().at("a").boot_id == "boot 2");
}

TEST_CASE("A claim without a spec may have been half released") {
  Host host;
  host.prepare("a", {card("0"), card("1")});
  const auto claim = host.claims->list().at("a");
  host.driver.bad_steps = {"release card0"};
  CHECK_FALSE(host.claims->unprepare("a"));
  REQUIRE(host.lock.save(claim));  // as if the disk had been full
  host.driver.steps.clear();
  host.again();
  CHECK(host.driver.steps == Texts{"acquire card0", "acquire card1"});
  CHECK(host.claims->faults().empty());
  CHECK(host.node_of("a") == "/dev/card0");
  host.driver.steps.clear();
  host.again();
  CHECK(host.driver.steps.empty());
}

TEST_CASE("A device that must be made first has its spec made again") {
  Host host;
  host.driver.acquired = cdi::Acquired::changed;
  CHECK(host.prepare("a", {card("0")}) == "vendor.com/claim=a-0 ");
  CHECK(host.node_of("a") == "/dev/card0");
}

TEST_CASE("A spec stays while its device is gone for a moment, if that is safe") {
  Host host;
  host.prepare("a", {card("0")});
  host.driver.nodes.erase("s0");
  SUBCASE("in the same boot") {
    host.again();
    CHECK(host.node_of("a") == "/dev/card0");
    CHECK(host.claims->check("a").error().message == "card0 is gone");
    CHECK(contains(host.prepare("b", {card("0")}), "claim a has device card0"));
  }
  SUBCASE("but not in another boot") {
    host.again("boot 2");
    CHECK(host.node_of("a").empty());
  }
  SUBCASE("but not if another device has its node") {
    host.driver.reason = cdi::Errc::conflict;
    host.again();
    CHECK(host.node_of("a").empty());
  }
  SUBCASE("but not against the driver's word") {
    host.driver.stays = false;
    host.again();
    CHECK(host.node_of("a").empty());
  }
  CHECK(host.is_recorded("a"));
}

TEST_CASE("The spec of a claim keeps its directory when new claims get another") {
  Host host;
  host.prepare("a", {card("0")});
  auto options = host.options();
  options.spec_dir = host / "other";
  host.claims.emplace(host.lock, host.driver, options);
  REQUIRE(host.claims->repair());
  CHECK(host.prepare("b", {card("1")}) == "vendor.com/claim=b-0 ");
  CHECK(get_file(host / "other/vendor.com-claim_a.json") == "not read");
  CHECK(get_file(host / "other/vendor.com-claim_b.json") != "not read");
  CHECK(host.node_of("a") == "/dev/card0");
  CHECK(host.claims->unprepare("a"));
  CHECK(host.node_of("a").empty());
}

TEST_CASE("A directory of specs does not depend on the directory in which the program runs") {
  Host host;
  auto options = host.options();
  options.spec_dir = "specs";
  char before[PATH_MAX];
  REQUIRE(::getcwd(before, sizeof before) != nullptr);
  REQUIRE(::chdir((host / ".").c_str()) == 0);
  host.claims.emplace(host.lock, host.driver, options);
  REQUIRE(host.claims->repair());
  host.prepare("a", {card("0")});
  CHECK(host.node_of("a") == "/dev/card0");
  cdi::Claim own{.uid = "b", .spec_dir = "specs", .devices = {card("1")}};
  REQUIRE(host.claims->prepare(own));
  CHECK(host.node_of("b") == "/dev/card1");
  REQUIRE(::chdir(before) == 0);
  for (const auto* const uid : {"a", "b"}) {
    CHECK(host.claims->unprepare(uid));
    CHECK(host.node_of(uid).empty());
  }
}

TEST_CASE("A spec without a claim is removed, and other owners' specs stay") {
  Host host;
  host.prepare("a", {card("0")});
  put_file(host.specs() + "/other.json", "{}");
  REQUIRE(host.lock.erase("a"));
  host.again();
  CHECK(host.node_of("a").empty());
  CHECK(get_file(host.specs() + "/other.json") == "{}");
  CHECK(contains(host.claims->warnings().at(0), "it belongs to no claim"));
}

TEST_CASE("A torn claim keeps its devices and its spec until it is unprepared") {
  Host host;
  host.prepare("a", {card("0")});
  const auto text = get_file(host.lock.path_of("a"));
  put_file(host.lock.path_of("a"), text.substr(0, text.size() / 2));
  host.again();
  CHECK(contains(host.claims->faults().at("a"), "unprepare the claim to remove it"));
  CHECK(host.node_of("a") == "/dev/card0");
  CHECK(contains(host.prepare("b", {card("1")}), "claim a may have it"));
  CHECK(host.claims->unprepare("a"));
  CHECK(host.node_of("a").empty());
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.prepare("b", {card("1")}) == "vendor.com/claim=b-0 ");
}

TEST_CASE("A device that a torn claim may share is not released") {
  Host host;
  auto first = card("0");
  first.share_id = "1";
  auto second = first;
  second.share_id = "2";
  host.prepare("a", {first});
  host.prepare("b", {second, card("1")});
  put_file(host.lock.path_of("a"), "{");
  host.again();
  host.driver.steps.clear();
  CHECK(host.claims->unprepare("b"));
  CHECK(host.driver.steps == Texts{"release card1"});
}

TEST_CASE("A claim that cannot be given back has a fault at once") {
  Host host;
  host.prepare("a", {card("0")});
  host.driver.bad_steps = {"release card0"};
  CHECK_FALSE(host.claims->unprepare("a"));
  CHECK(host.prepare("a", {card("0")}) == "release card0 failed");  // it has no spec any more
  host.driver.bad_steps.clear();
  CHECK(host.claims->unprepare("a"));
  CHECK(host.claims->faults().empty());
  CHECK(host.prepare("a", {card("0")}) == "vendor.com/claim=a-0 ");
}

TEST_CASE("The UID of a claim to give back may come from the list itself") {
  Host host;
  const std::string uid = "a-uid-that-does-not-fit-into-a-text";  // which has memory of its own
  host.prepare(uid, {card("0")});
  host.driver.bad_steps = {"release card0"};
  CHECK_FALSE(host.claims->unprepare(uid));
  CHECK(host.claims->faults().size() == 1);
  host.driver.bad_steps.clear();
  CHECK(host.claims->unprepare(host.claims->list().begin()->first));
  CHECK(host.claims->list().empty());
  CHECK(host.claims->faults().empty());
}

TEST_CASE("A claim that could not be undone keeps its devices") {
  Host host;
  host.driver.bad_steps = {"acquire card0", "release card0"};
  CHECK(host.prepare("a", {card("0")}) == "acquire card0 failed");
  CHECK(host.is_recorded("a"));
  host.driver.bad_steps.clear();
  CHECK(contains(host.prepare("b", {card("0")}), "claim a has device card0"));
  CHECK(host.claims->faults().at("a") == "release card0 failed");
  CHECK(host.claims->unprepare("a"));
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.prepare("b", {card("0")}) == "vendor.com/claim=b-0 ");
}

TEST_CASE("A torn claim that cannot be removed keeps its devices") {
  Host host;
  host.prepare("a", {card("0")});
  put_file(host.lock.path_of("a"), "{");
  host.again();
  REQUIRE(std::remove(host.spec_path("a").c_str()) == 0);
  REQUIRE(::rmdir(host.specs().c_str()) == 0);
  put_file(host.specs(), "no directory");
  CHECK_FALSE(host.claims->unprepare("a"));
  CHECK(contains(host.prepare("b", {card("1")}), "claim a may have it"));
  CHECK_FALSE(host.claims->unprepare("a"));
  REQUIRE(std::remove(host.specs().c_str()) == 0);
  CHECK(host.claims->unprepare("a"));
  CHECK_FALSE(host.is_recorded("a"));
  CHECK(host.claims->faults().empty());
}

TEST_CASE("A repair may be repeated") {
  Host host;
  host.prepare("a", {card("0")});
  host.prepare("b", {card("1")});
  host.driver.nodes.erase("s0");
  put_file(host.lock.path_of("b"), "{");
  REQUIRE(host.claims->repair());
  CHECK(host.claims->faults().size() == 2);
  CHECK(host.claims->list().size() == 1);
  host.driver.nodes["s0"] = "/dev/card0";
  REQUIRE(host.lock.erase("b"));
  REQUIRE(host.claims->repair());
  CHECK(host.claims->faults().empty());
  CHECK(host.claims->list().size() == 1);
  CHECK(host.prepare("b", {card("1")}) == "vendor.com/claim=b-0 ");
}

TEST_CASE("A spec file of another owner is not replaced") {
  Host host;
  const cdi::Publisher other{"other", host.specs()};
  const cdi::Spec spec{.kind = "vendor.com/claim",
                       .devices = {{.name = "x", .container_edits = {.env = {"A=1"}}}}};
  REQUIRE(other.write("vendor.com-claim_a.json", spec));
  CHECK(contains(host.prepare("a", {card("0")}), "owner"));
  CHECK(host.driver.steps.empty());
  CHECK_FALSE(host.is_recorded("a"));
}

TEST_CASE("The owner of the specs must be a name that specs can record") {
  Host host;
  const auto fault = [&](const cdi::ClaimJournal& lock, const std::string& owner) {
    auto options = host.options();
    options.owner = owner;
    const auto repaired = cdi::Claims{lock, host.driver, options}.repair();
    REQUIRE_FALSE(repaired);
    CHECK(repaired.error().code == cdi::Errc::invalid);
    return to_string(repaired.error());
  };
  CHECK(contains(fault(host.lock, "\n"), "owner \"\\n\" cannot be recorded: use 1 to 253"));
  const auto state = host / "gr\u00fc\u00df";
  const auto other = cdi::ClaimJournal::open(state, std::chrono::seconds{20});
  REQUIRE(other);
  CHECK(fault(*other, "").starts_with(other->directory() + ": owner "));
  CHECK(contains(fault(*other, ""), "use another directory for the journal"));
}
