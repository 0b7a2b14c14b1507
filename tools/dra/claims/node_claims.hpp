// Prepares and unprepares the claims of a node in batches, with an answer for each.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_NODE_CLAIMS_HPP
#define CDI_TOOLS_DRA_CLAIMS_NODE_CLAIMS_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cdi/files/lock.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/claims/claim.hpp"
#include "../../gpu/claims/claim_edits.hpp"
#include "../../gpu/claims/claim_places.hpp"
#include "../../gpu/claims/claims.hpp"
#include "../../gpu/claims/requested_device.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/slices/device_names.hpp"
#include "../../gpu/vendors/survey.hpp"
#include "../protocol/grpc_server.hpp"
#include "claim_source.hpp"
#include "given_device.hpp"
#include "gpu_config.hpp"
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
  cdi::Result<std::vector<Prepared>> prepare(const std::vector<ClaimName>& names,
                                             const Call& call) {
    auto asked = source_.get_all(names, call.deadline());
    return with_claims<std::vector<Prepared>>(
        &call, lock_deadline(call), [&](prepare::Claims& claims) {
          std::vector<Prepared> out;
          for (std::size_t i = 0; i < names.size(); ++i) {
            out.push_back({names[i], prepare_one(claims, names[i], asked[i], call)});
          }
          return out;
        });
  }

  /// Releases the devices of claims. Unknown claims are not errors.
  cdi::Result<std::vector<Unprepared>> unprepare(const std::vector<ClaimName>& names,
                                                 const Call& call) {
    return with_claims<std::vector<Unprepared>>(
        &call, lock_deadline(call), [&](prepare::Claims& claims) {
          std::vector<Unprepared> out;
          for (const auto& name : names) {
            const bool is_late = call.is_dead();
            const bool is_uid = cdi::is_claim_uid(name.uid);  // others are never prepared
            out.push_back({name, is_late  ? cdi::Result<void>{dead_call()}
                                 : is_uid ? claims.unprepare(name.uid)
                                          : cdi::Result<void>{}});
          }
          return out;
        });
  }

  /// What `repair` finds.
  struct State {
    std::map<std::string, prepare::Claim> claims{};  // by UID
    std::map<std::string, std::string> faults{};     // by UID
    std::set<std::string> new_in{};  // folders of specs that this object neither wrote nor saw
  };

  /// Finishes the work of killed calls, and rewrites specs of claims that are missing, outdated or
  /// damaged. `Errc::timeout` if other calls last until `end`.
  cdi::Result<State> repair(Clock::time_point end) {
    return with_claims<State>(nullptr, end, [this](prepare::Claims& claims) {
      return State{claims.all(), claims.faults(), specs_.folders_of_new(claims)};
    });
  }

  /// Whether the claims and spec files are unchanged since this object wrote or saw them: another
  /// instance of the driver may have prepared a claim. Reads no file. Waits until `end` for a call
  /// that may be writing specs.
  bool has_its_specs(Clock::time_point end) {
    const std::unique_lock running{mutex_, end};
    return specs_.are_those_seen();
  }

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
  static Clock::time_point lock_deadline(const Call& call) {
    constexpr std::chrono::seconds longest{40};  // the kubelet waits 45 s
    return std::min(Clock::now() + longest, call.deadline());
  }

 private:
  /// How often a call that waits for a lock checks whether to continue.
  static constexpr std::chrono::milliseconds patience{100};

  static cdi::Error late(std::string message) {
    return {.code = cdi::Errc::timeout, .message = std::move(message)};
  }
  static cdi::Error dead_call() {
    return late("the caller no longer waits for the answer: nothing was done");
  }

  cdi::Result<void> check_places(const cdi::ClaimJournal& journal) const {
    const auto specs =
        prepare::open_directory(options_, options_.output_dir, prepare::Missing::stays);
    auto apart = specs ? journal.check_apart(*specs) : cdi::Result<void>{};
    if (!apart) apart.error().advice = "use another --state-dir";
    return apart;
  }

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
                                                       const Call& call) const {
    if (!asked) return asked.error();
    if (!cdi::is_claim_uid(name.uid)) {
      return cdi::Error{.code = cdi::Errc::invalid_name,
                        .message = "the UID " + cdi::quoted(name.uid) + " is not valid",
                        .advice = "use 1 to 56 letters, digits and -, as Kubernetes does"};
    }
    if (auto good = check_allocation(*asked); !good) return std::move(good).error();
    if (auto good = claims.check(name.uid); !good) return std::move(good).error();
    const auto options = options_for(*asked, prepare::kept_options(options_));
    if (!options) return options.error();
    const auto known = claims.all().find(name.uid);
    const auto* const claim = known == claims.all().end() ? nullptr : &known->second;
    const auto requested = requested_devices(claims.survey(), *asked, claim);
    if (!requested) return requested.error();
    if (auto free = check_not_given(claims, *requested); !free) return std::move(free).error();
    if (call.is_dead()) return dead_call();
    const auto prepared = claims.prepare({.uid = name.uid,
                                          .name_space = name.name_space,
                                          .name = name.name,
                                          .kind = places_.driver + "/claim",
                                          .spec_dir = options_.output_dir,
                                          .options = *options},
                                         *requested);
    if (!prepared) return prepared.error();
    return devices_of(*prepared, *asked);
  }

  cdi::Result<void> check_allocation(const ResourceClaim& claim) const {
    if (!claim.is_allocated) {
      return cdi::Error{
          .code = cdi::Errc::not_found,
          .message = "the ResourceClaim is not allocated: status.allocation is empty"};
    }
    if (!claim.devices.empty()) return {};
    return cdi::Error{
        .code = cdi::Errc::not_found,
        .message = "the allocation has no device of the driver " + cdi::quoted(places_.driver)};
  }

  /// Rejects a device that a pod has by the device plugin.
  cdi::Result<void> check_not_given(const prepare::Claims& claims,
                                    const std::vector<prepare::RequestedDevice>& requested) const {
    for (const auto& one : requested) {
      const auto name = prepare::dns_name(one.device);
      const auto given = claims.all().find(plugin_uid(name));
      if (one.admin_access || given == claims.all().end()) continue;
      if (!is_given(given->second, places_.driver)) continue;
      return cdi::Error{.code = cdi::Errc::conflict,
                        .message = "a pod has the device " + name + " by the device plugin",
                        .advice = "wait until that pod has ended"};
    }
    return {};
  }

  /// The devices of the allocation on this host. Devices that the claim already has keep their GPU,
  /// even if its name now means another.
  cdi::Result<std::vector<prepare::RequestedDevice>> requested_devices(
      const prepare::Survey& survey, const ResourceClaim& asked,
      const prepare::Claim* known) const {
    std::vector<prepare::RequestedDevice> out;
    for (const auto& device : asked.devices) {
      const auto* const had = known == nullptr ? nullptr : find_claimed(*known, device);
      auto found = had != nullptr ? prepare::find_again(survey, prepare::gpu_of(*had))
                                  : find_allocated(survey, device);
      if (!found) return std::move(found).error();
      out.push_back({.request = device.request,
                     .name = device.device,
                     .device = std::move(*found),
                     .share_id = device.share_id,
                     .admin_access = device.admin_access});
    }
    return out;
  }

  /// Devices of two nodes may have the same name: with a PCI address, for example. A pod with
  /// `spec.nodeName` may bring a claim here that was allocated on another node.
  cdi::Result<prepare::FoundDevice> find_allocated(const prepare::Survey& survey,
                                                   const AllocatedDevice& device) const {
    if (device.pool == places_.node) return prepare::find_by_dns_name(survey, device.device);
    return cdi::Error{.code = cdi::Errc::not_found,
                      .message = "the device " + cdi::quoted(device.device) + " is in the pool " +
                                 cdi::quoted(device.pool) + ", and this node has the pool " +
                                 cdi::quoted(places_.node),
                      .advice = "run the pod on the node for which its claim was allocated"};
  }

  static const prepare::ClaimedDevice* find_claimed(const prepare::Claim& claim,
                                                    const AllocatedDevice& device) {
    const auto found =
        std::find_if(claim.devices.begin(), claim.devices.end(), [&](const auto& one) {
          return one.requested == device.device && one.request == device.request &&
                 one.share_id == device.share_id;
        });
    return found == claim.devices.end() ? nullptr : &*found;
  }

  static std::vector<PreparedDevice> devices_of(const prepare::Claim& claim,
                                                const ResourceClaim& asked) {
    std::vector<PreparedDevice> out;
    for (const auto& device : asked.devices) {
      const auto* const own = find_claimed(claim, device);
      if (own == nullptr) continue;
      const auto index = static_cast<std::size_t>(own - claim.devices.data());
      out.push_back({.request = device.request.substr(0, device.request.find('/')),
                     .pool = device.pool,
                     .device = device.device,
                     .share_id = device.share_id,
                     .cdi_id = claim.device_id(index)});
    }
    return out;
  }

  void pass_on_warnings(const prepare::Claims& claims) {
    auto now = claims.warnings();
    for (const auto& text : now) {
      const bool is_new = std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end();
      if (is_new && warned) warned(text);
    }
    warnings_ = std::move(now);
  }

  const NodePlaces places_;
  const prepare::Options options_;
  ClaimSource& source_;
  std::vector<std::string> warnings_{};  // of the last call; used by the thread that has `mutex_`
  std::timed_mutex mutex_{};
  SpecMemory specs_{places_.state_dir};
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIMS_NODE_CLAIMS_HPP
