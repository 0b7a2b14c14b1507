// A driver of cards, for the tests of claims, that writes down what it is asked to do.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_driver.hpp>
#include <cdi/claims/claim_journal.hpp>
#include <cdi/claims/claims.hpp>
#include <cdi/model/spec.hpp>

#include "temp_tree.hpp"

/// Cards have a serial number, and a node that changes its number.
class CardDriver final : public cdi::ClaimDriver {
 public:
  std::map<std::string, std::string> nodes{{"s0", "/dev/card0"}, {"s1", "/dev/card1"}};
  std::vector<std::string> steps{};    // what was done: "acquire card0"
  std::set<std::string> bad_steps{};   // those that fail
  cdi::Errc reason = cdi::Errc::host;  // why a spec cannot be made
  bool stays = true;                   // whether an old spec may stay
  cdi::Acquired acquired = cdi::Acquired::unchanged;
  std::string kind{};        // of all specs, instead of the claim's
  std::size_t devices = 10;  // how many a spec has at most
  bool readies = true;       // whether it makes cards ready
  std::function<void()> at_step = [] {
  };

  cdi::Result<cdi::Spec> make_spec(cdi::Claim& claim, const cdi::Spec*) override {
    cdi::Spec spec{.kind = kind.empty() ? claim.kind : kind};
    for (std::size_t i = 0; i < std::min(devices, claim.devices.size()); ++i) {
      const auto serial = claim.devices[i].identity.find("serial");
      const auto node =
          serial == claim.devices[i].identity.end() ? nodes.end() : nodes.find(serial->second);
      if (node == nodes.end()) {
        return cdi::Error{.code = reason, .message = claim.devices[i].name + " is gone"};
      }
      spec.devices.push_back({.name = claim.device_name(i),
                              .container_edits = {.device_nodes = {{.path = node->second}}}});
    }
    return spec;
  }

  bool makes_ready() const override { return readies; }

  cdi::Result<cdi::Acquired> acquire(const cdi::Claim&, const cdi::ClaimedDevice& card) override {
    if (auto done = step("acquire " + card.name); !done) return std::move(done).error();
    return acquired;
  }

  cdi::Result<void> release(const cdi::Claim&, const cdi::ClaimedDevice& card) override {
    return step("release " + card.name);
  }

  bool may_stay(const cdi::Claim&, const cdi::Spec&) override { return stays; }

 private:
  cdi::Result<void> step(std::string what) {
    steps.push_back(what);
    at_step();
    if (!bad_steps.contains(what)) return {};
    return cdi::Error{.code = cdi::Errc::host, .message = what + " failed"};
  }
};

/// A device of a claim: the card with a number.
inline cdi::ClaimedDevice card(const std::string& number, const std::string& request = {}) {
  return {.request = request, .name = "card" + number, .identity = {{"serial", "s" + number}}};
}

/// A place for a journal and specs, in memory if possible, because these tests sync often.
struct ClaimTree : TempTree {
  ClaimTree() : TempTree{"/dev/shm"} {}

  std::string state() const { return *this / "state"; }
  std::string specs() const { return *this / "specs"; }

  cdi::ClaimJournal journal() const {
    return *cdi::ClaimJournal::open(state(), std::chrono::seconds{20});
  }

  cdi::ClaimOptions options(std::string boot = "boot 1") const {
    return {.kind = "vendor.com/claim", .spec_dir = specs(), .boot_id = std::move(boot)};
  }

  std::string spec_path(const std::string& uid) const {
    return specs() + "/vendor.com-claim_" + uid + ".json";
  }
};
