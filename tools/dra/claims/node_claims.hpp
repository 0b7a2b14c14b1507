// Prepares and unprepares the claims of a node in batches, with an answer for each.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/files/lock.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/claims/claim.hpp"
#include "../../gpu/claims/claim_places.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/claims/requested_device.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/slices/device_names.hpp"
#include "../../gpu/survey/survey.hpp"
#include "../protocol/grpc_server.hpp"
#include "claim_source.hpp"
#include "resource_claim.hpp"
#include "spec_memory.hpp"

namespace dra {

/// A device as the kubelet wants it.
struct PreparedDevice {
  std::string request{};  // without the part after `/`
  std::string pool{};
  std::string device{};
  std::string share_id{};
  std::string cdi_id{};
};

/// A claim and its outcome.
template <class Value>
struct Outcome {
  ClaimName claim{};
  cdi::Result<Value> result;
};
using Prepared = Outcome<std::vector<PreparedDevice>>;
using Unprepared = Outcome<void>;

/// Where the claims of a node are kept.
struct NodePlaces {
  std::string driver{};       // its claims have CDI devices of the kind DRIVER/claim
  std::string node{};         // the name of the node and of its pool
  std::string state_dir{};    // of the journal
  std::string serial_lock{};  // a file; held by one instance of the driver at a time
};

/// The claims of a node. Calls wait for each other, even between processes.
class NodeClaims {
 public:
  using Clock = Call::Clock;

  /// `source` must outlive this object.
  NodeClaims(NodePlaces places, prepare::Options options, ClaimSource& source)
      : places_{std::move(places)}, options_{std::move(options)}, source_{source} {}

  /// Prepares claims, with one survey of the host for all. A prepared claim stays prepared, and a
  /// missing spec is written again. Fails as a whole if the claims of this host cannot be opened,
  /// or if the call is cancelled before the first write.
  cdi::Result<std::vector<Prepared>> prepare(const std::vector<ClaimName>& names, const Call& call);

  /// Releases the devices of claims. Unknown claims are not errors.
  cdi::Result<std::vector<Unprepared>> unprepare(const std::vector<ClaimName>& names,
                                                 const Call& call);

  /// What `repair` finds.
  struct State {
    std::map<std::string, prepare::Claim> claims{};  // by UID
    std::map<std::string, std::string> faults{};     // by UID
    std::set<std::string> new_in{};  // folders of specs that this object neither wrote nor saw
  };

  /// Finishes the work of killed calls, and rewrites specs of claims that are missing, outdated or
  /// damaged. `Errc::timeout` if other calls last until `end`.
  cdi::Result<State> repair(Clock::time_point end);

  /// Whether the claims and spec files are unchanged since this object wrote or saw them: another
  /// instance of the driver may have prepared a claim. Reads no file. Waits until `end` for a call
  /// that may be writing specs.
  bool has_its_specs(Clock::time_point end);

  /// Runs `act` on the claims with all locks held, at most until `end`. A cancelled call ends
  /// before anything is written; `call` may be null.
  template <class Value, class Act>
  cdi::Result<Value> with_claims(const Call* call, Clock::time_point end, const Act& act) {
    const auto goes_on = [&] {
      return Clock::now() < end && (call == nullptr || !call->is_dead());
    };
    std::unique_lock own{mutex_, std::defer_lock};
    while (!own.try_lock_for(patience)) {
      if (!goes_on()) return late("other calls on this node last too long");
    }
    if (call != nullptr && call->is_dead()) return dead_call();
    const auto serial =
        cdi::FileLock::open(AT_FDCWD, places_.serial_lock, places_.serial_lock, goes_on);
    if (!serial) return serial.error();
    const auto journal = open_journal(goes_on);
    if (!journal) return journal.error();
    if (auto good = check_places(*journal); !good) return good.error();
    const auto survey = prepare::survey_host(options_);
    if (!survey) return survey.error();
    if (call != nullptr && call->is_dead()) return dead_call();  // nothing is written yet
    prepare::Claims claims{*journal, *survey, options_, prepare::ClaimPlaces::given};
    specs_.see_once(*journal);
    if (auto agreed = claims.repair(); !agreed) return std::move(agreed).error();
    auto value = act(claims);
    specs_.see(claims);
    pass_on_warnings(claims);
    if (observed) observed(claims);
    return value;
  }

  /// Called with all claims after each change, and when the driver looks at the host. Set it before
  /// there are other threads.
  std::function<void(const prepare::Claims&)> observed{};

  /// Called with each warning about specs that the previous call did not have, such as a part that
  /// is lost in an older CDI version. Set it before there are other threads.
  std::function<void(const std::string&)> warned{};

  const NodePlaces& places() const { return places_; }
  const prepare::Options& options() const { return options_; }

  /// How long a call waits for locks.
  static Clock::time_point lock_deadline(const Call& call);

 private:
  /// How often a call that waits for a lock checks whether to continue.
  static constexpr std::chrono::milliseconds patience{100};

  static cdi::Error late(std::string message);
  static cdi::Error dead_call();

  cdi::Result<void> check_places(const cdi::ClaimJournal& journal) const;

  /// Opens the journal once no other process holds it.
  template <class GoesOn>
  cdi::Result<cdi::ClaimJournal> open_journal(const GoesOn& goes_on) const {
    for (;;) {
      auto directory = prepare::open_directory(options_, places_.state_dir, prepare::Missing::made);
      if (!directory) return std::move(directory).error();
      auto journal = prepare::open_journal(std::move(*directory), patience);
      const bool is_taken = !journal && journal.error().code == cdi::Errc::timeout;
      if (!is_taken || !goes_on()) return journal;
    }
  }

  cdi::Result<std::vector<PreparedDevice>> prepare_one(prepare::Claims& claims,
                                                       const ClaimName& name,
                                                       const cdi::Result<ResourceClaim>& asked,
                                                       const Call& call) const;

  cdi::Result<void> check_allocation(const ResourceClaim& claim) const;

  /// Rejects a device that a pod has by the device plugin.
  cdi::Result<void> check_not_given(const prepare::Claims& claims,
                                    const std::vector<prepare::RequestedDevice>& requested) const;

  /// The devices of the allocation on this host. Devices that the claim already has keep their GPU,
  /// even if its name now means another.
  cdi::Result<std::vector<prepare::RequestedDevice>> requested_devices(
      const prepare::Survey& survey, const ResourceClaim& asked, const prepare::Claim* known) const;

  /// Devices of two nodes may have the same name: with a PCI address, for example. A pod with
  /// `spec.nodeName` may bring a claim here that was allocated on another node.
  cdi::Result<prepare::FoundDevice> find_allocated(const prepare::Survey& survey,
                                                   const AllocatedDevice& device) const;

  static const prepare::ClaimedDevice* find_claimed(const prepare::Claim& claim,
                                                    const AllocatedDevice& device);

  static std::vector<PreparedDevice> devices_of(const prepare::Claim& claim,
                                                const ResourceClaim& asked);

  void pass_on_warnings(const prepare::Claims& claims);

  const NodePlaces places_;
  const prepare::Options options_;
  ClaimSource& source_;
  std::vector<std::string> warnings_{};  // of the last call; used by the thread that has `mutex_`
  std::timed_mutex mutex_{};
  SpecMemory specs_{places_.state_dir};
};

}  // namespace dra
