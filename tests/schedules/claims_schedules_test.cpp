// Claims of two processes, under all interleavings, kills and power cuts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/claims/claims.hpp>
#include <cdi/files/file.hpp>

#include "model_calls.hpp"
#include "model_test.hpp"
#include "schedules.hpp"

namespace {

using model::Effect;
using model::host;

const std::string journal_dir = "/state";
const std::string spec_dir = "/specs";

std::string spec_of_claim(const std::string& uid) {
  return "vendor.com-claim_" + uid + ".json";
}

/// Which claims have each card, as the hardware knows it.
using Cards = std::map<std::string, std::set<std::string>>;

/// Makes cards ready in steps, and finds those that are ready for two claims.
class ModelDriver final : public cdi::ClaimDriver {
 public:
  ModelDriver(Cards& cards, std::string& fault, bool readies)
      : cards_{cards}, fault_{fault}, readies_{readies} {}

  cdi::Result<cdi::Spec> make_spec(cdi::Claim& claim, const cdi::Spec*) override {
    cdi::Spec spec{.kind = claim.kind};
    for (std::size_t i = 0; i < claim.devices.size(); ++i) {
      spec.devices.push_back(
          {.name = claim.device_name(i),
           .container_edits = {.device_nodes = {{.path = "/dev/" + claim.devices[i].name}}}});
    }
    return spec;
  }

  bool makes_ready() const override { return readies_; }

  cdi::Result<cdi::Acquired> acquire(const cdi::Claim& claim,
                                     const cdi::ClaimedDevice& card) override {
    if (!readies_) return cdi::Acquired::unchanged;
    if (!host->step(Effect::changes, "acquire", card.name)) return killed();
    auto& users = cards_[card.name];
    users.insert(claim.uid);
    if (users.size() > 1) fault_ = card.name + " is ready for two claims";
    return cdi::Acquired::unchanged;
  }

  cdi::Result<void> release(const cdi::Claim& claim, const cdi::ClaimedDevice& card) override {
    if (!readies_) return {};
    if (!host->step(Effect::changes, "release", card.name)) return killed();
    auto& users = cards_[card.name];
    users.erase(claim.uid);
    if (!users.empty()) fault_ = card.name + " is released, but another claim has it";
    return {};
  }

 private:
  static cdi::Error killed() { return {.code = cdi::Errc::host, .message = "killed"}; }

  Cards& cards_;
  std::string& fault_;
  bool readies_;
};

/// A call of a process: a claim that gets a card, or with no card is given up.
struct Call {
  std::string uid;
  std::string card{};
};

/// What the callers know about a claim.
enum class Known { nothing, has_card, is_gone };

/// What is tried: the claims that are there before, and the calls of each process.
struct Plan {
  std::string name;
  std::vector<Call> before;
  std::array<std::vector<Call>, 2> calls;
  bool readies = true;
};

class ClaimsScenario final : public model::Scenario {
 public:
  explicit ClaimsScenario(Plan plan) : plan_{std::move(plan)} {}

  void set_up() override {
    host->files.make_directory(AT_FDCWD, journal_dir, 0755);
    host->files.make_directory(AT_FDCWD, spec_dir, 0755);
    for (const auto& call : plan_.before) carry_out(call);
  }

  void work(int process) override {
    for (const auto& call : plan_.calls[static_cast<std::size_t>(process)]) carry_out(call);
  }

  void recover(bool rebooted) override {
    if (rebooted) {
      cards_.clear();
      boot_ = "boot 2";
    }
    with_claims([&](cdi::Claims& claims) {
      for (const auto& [uid, claim_fault] : claims.faults()) expect(false, uid + claim_fault);
      for (const auto& [uid, claim] : claims.list()) listed_[uid] = claim.devices.at(0).name;
    });
  }

  void check() override {
    std::set<std::string> records{".lock"};
    std::set<std::string> specs;
    Cards cards;
    for (const auto& [uid, card] : listed_) {
      records.insert(uid + ".json");
      specs.insert(spec_of_claim(uid));
      expect(spec_gives(uid, card), "the spec of " + uid + " does not give " + card);
      expect(cards[card].insert(uid).second && cards[card].size() == 1, card + " is given twice");
    }
    expect(host->files.names_in(journal_dir) == records, "the journal has other files");
    expect(host->files.names_in(spec_dir) == specs, "the directory of specs has other files");
    std::erase_if(cards_, [](const auto& entry) { return entry.second.empty(); });
    expect(!plan_.readies || cards_ == cards, "other cards are ready than those of the claims");
    for (const auto& [uid, known] : known_) {
      expect(known != Known::has_card || listed_.contains(uid), uid + " is lost");
      expect(known != Known::is_gone || !listed_.contains(uid), uid + " is there again");
    }
  }

 private:
  /// Opens the journal and repairs the claims, as a driver does for each call.
  template <class Function>
  void with_claims(const Function& function) {
    ModelDriver driver{cards_, fault, plan_.readies};
    const auto journal = cdi::ClaimJournal::open(journal_dir, std::chrono::seconds{60});
    if (!journal) return fail("opening the journal", journal.error());
    cdi::Claims claims{
        *journal, driver, {.kind = "vendor.com/claim", .spec_dir = spec_dir, .boot_id = boot_}};
    const auto repaired = claims.repair();
    if (!repaired) return fail("repair", repaired.error());
    function(claims);
  }

  void carry_out(const Call& call) {
    with_claims([&](cdi::Claims& claims) {
      known_[call.uid] = Known::nothing;
      if (call.card.empty()) {
        const auto done = claims.unprepare(call.uid);
        if (!done) return fail("unprepare " + call.uid, done.error());
      } else {
        const auto done = claims.prepare(call.uid, {{.name = call.card}});
        if (!done && is_taken(call, done.error())) return answer(call, Known::is_gone);
        if (!done) return fail("prepare " + call.uid, done.error());
      }
      answer(call, call.card.empty() ? Known::is_gone : Known::has_card);
    });
  }

  /// The caller of the library gets the answer, unless the process was killed.
  void answer(const Call& call, Known known) {
    if (!host->step(Effect::changes, "answer", call.uid)) return;
    known_[call.uid] = known;
    const bool is_there = known == Known::has_card;
    expect(host->files.names_in(journal_dir).contains(call.uid + ".json") == is_there,
           "the journal does not have what was answered");
    expect(is_there ? spec_gives(call.uid, call.card)
                    : !host->files.names_in(spec_dir).contains(spec_of_claim(call.uid)),
           "the specs do not give what was answered");
  }

  /// Whether another claim has the card of a call.
  bool is_taken(const Call& call, const cdi::Error& error) const {
    if (error.code != cdi::Errc::conflict) return false;
    for (const auto& name : host->files.names_in(journal_dir)) {
      const auto text = host->files.text_of(journal_dir + "/" + name);
      if (name != call.uid + ".json" && text.find(call.card) != text.npos) return true;
    }
    return false;
  }

  bool spec_gives(const std::string& uid, const std::string& card) const {
    const auto spec = cdi::parse_spec(host->files.text_of(spec_dir + "/" + spec_of_claim(uid)),
                                      spec_of_claim(uid), cdi::Format::json);
    return spec && spec->spec.devices.size() == 1 &&
           spec->spec.devices[0].container_edits.device_nodes.at(0).path == "/dev/" + card;
  }

  void fail(const std::string& what, const cdi::Error& error) {
    if (host->step(Effect::none, "fails", what)) expect(false, what + ": " + to_string(error));
  }

  Plan plan_;
  std::string boot_ = "boot 1";
  Cards cards_{};
  std::map<std::string, Known> known_{};
  std::map<std::string, std::string> listed_{};
};

const std::vector<Plan> plans{
    {"one card for two claims", {}, {{{{"a", "card0"}}, {{"b", "card0"}}}}},
    {"a card each", {}, {{{{"a", "card0"}}, {{"b", "card1"}}}}},
    {"a card that another process gives up", {{"a", "card0"}}, {{{{"a"}}, {{"b", "card0"}}}}},
    {"a call that is repeated", {}, {{{{"a", "card0"}}, {{"a", "card0"}}}}},
    {"a claim beside its end", {{"a", "card0"}}, {{{{"a"}}, {{"a"}}}}},
    {"a card that goes on", {{"a", "card0"}}, {{{{"a"}, {"b", "card0"}}, {{"c", "card0"}}}}},
};

}  // namespace

TEST_CASE("Claims survive every schedule, kill and power cut") {
  for (auto plan : plans) {
    for (const bool readies : {true, false}) {
      plan.readies = readies;
      model::explore_all("claims: " + plan.name + (readies ? ", made ready" : ""), 1,
                         [&] { return std::make_unique<ClaimsScenario>(plan); });
    }
  }
}
