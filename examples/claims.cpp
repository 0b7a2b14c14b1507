// Gives the cards of a host to claims: a small driver of another device.
// usage: claims STATE_DIR SPEC_DIR prepare CLAIM CARD... | unprepare CLAIM | list
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <cdi/claims.hpp>

namespace {

/// A card is /dev/NAME. What identifies a card for ever, such as its serial number, belongs into
/// `identity`; here it is the name.
class CardDriver final : public cdi::ClaimDriver {
 public:
  cdi::Result<cdi::Spec> make_spec(cdi::Claim& claim, const cdi::Spec*) override {
    cdi::Spec spec{.kind = claim.kind};
    for (std::size_t i = 0; i < claim.devices.size(); ++i) {
      const auto node = "/dev/" + claim.devices[i].name;
      if (!std::filesystem::exists(node)) {
        return cdi::Error{.code = cdi::Errc::not_found, .message = node + " is not there"};
      }
      spec.devices.push_back(
          {.name = claim.device_name(i), .container_edits = {.device_nodes = {{.path = node}}}});
    }
    return spec;
  }
};

int fail(const cdi::Error& error) {
  std::cerr << to_string(error) << '\n';
  return 1;
}

int usage() {
  std::cerr << "usage: claims STATE_DIR SPEC_DIR prepare CLAIM CARD... | unprepare CLAIM | list\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) return usage();
  CardDriver driver;
  const auto journal = cdi::ClaimJournal::open(words[0], std::chrono::seconds{10});
  if (!journal) return fail(journal.error());
  cdi::Claims claims{*journal, driver, {.kind = "vendor.com/claim", .spec_dir = words[1]}};
  if (auto repaired = claims.repair(); !repaired) return fail(repaired.error());
  for (const auto& [uid, fault] : claims.faults()) std::cerr << uid << ": " << fault << '\n';
  if (words[2] == "unprepare" && words.size() == 4) {
    const auto done = claims.unprepare(words[3]);
    return done ? 0 : fail(done.error());
  }
  if (words[2] == "prepare" && words.size() > 4) {
    std::vector<cdi::ClaimedDevice> cards;
    for (std::size_t i = 4; i < words.size(); ++i) cards.push_back({.name = words[i]});
    const auto claim = claims.prepare(words[3], cards);
    if (!claim) return fail(claim.error());
    for (std::size_t i = 0; i < cards.size(); ++i) std::cout << claim->device_id(i) << '\n';
    return 0;
  }
  if (words[2] != "list") return usage();
  for (const auto& [uid, claim] : claims.list()) {
    std::cout << uid << ": " << to_string(claim) << '\n';
  }
}
