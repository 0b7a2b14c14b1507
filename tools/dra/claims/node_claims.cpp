// Prepares and unprepares the claims of a node in batches, with an answer for each.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "node_claims.hpp"

#include <algorithm>
#include <cstddef>

#include "../../gpu/claims/claim_edits.hpp"
#include "given_device.hpp"
#include "gpu_config.hpp"

namespace dra {

cdi::Result<std::vector<Prepared>> NodeClaims::prepare(const std::vector<ClaimName>& names,
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

cdi::Result<std::vector<Unprepared>> NodeClaims::unprepare(const std::vector<ClaimName>& names,
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

cdi::Result<NodeClaims::State> NodeClaims::repair(Clock::time_point end) {
  return with_claims<State>(nullptr, end, [this](prepare::Claims& claims) {
    return State{claims.all(), claims.faults(), specs_.folders_of_new(claims)};
  });
}

bool NodeClaims::has_its_specs(Clock::time_point end) {
  const std::unique_lock running{mutex_, end};
  return specs_.are_those_seen();
}

NodeClaims::Clock::time_point NodeClaims::lock_deadline(const Call& call) {
  constexpr std::chrono::seconds longest{40};  // the kubelet waits 45 s
  return std::min(Clock::now() + longest, call.deadline());
}

cdi::Error NodeClaims::late(std::string message) {
  return {.code = cdi::Errc::timeout, .message = std::move(message)};
}

cdi::Error NodeClaims::dead_call() {
  return late("the caller no longer waits for the answer: nothing was done");
}

cdi::Result<void> NodeClaims::check_places(const cdi::ClaimJournal& journal) const {
  const auto specs =
      prepare::open_directory(options_, options_.output_dir, prepare::Missing::stays);
  auto apart = specs ? journal.check_apart(*specs) : cdi::Result<void>{};
  if (!apart) apart.error().advice = "use another --state-dir";
  return apart;
}

cdi::Result<std::vector<PreparedDevice>> NodeClaims::prepare_one(
    prepare::Claims& claims, const ClaimName& name, const cdi::Result<ResourceClaim>& asked,
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

cdi::Result<void> NodeClaims::check_allocation(const ResourceClaim& claim) const {
  if (!claim.is_allocated) {
    return cdi::Error{.code = cdi::Errc::not_found,
                      .message = "the ResourceClaim is not allocated: status.allocation is empty"};
  }
  if (!claim.devices.empty()) return {};
  return cdi::Error{
      .code = cdi::Errc::not_found,
      .message = "the allocation has no device of the driver " + cdi::quoted(places_.driver)};
}

cdi::Result<void> NodeClaims::check_not_given(
    const prepare::Claims& claims, const std::vector<prepare::RequestedDevice>& requested) const {
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

cdi::Result<std::vector<prepare::RequestedDevice>> NodeClaims::requested_devices(
    const prepare::Survey& survey, const ResourceClaim& asked, const prepare::Claim* known) const {
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

cdi::Result<prepare::FoundDevice> NodeClaims::find_allocated(const prepare::Survey& survey,
                                                             const AllocatedDevice& device) const {
  if (device.pool == places_.node) return prepare::find_by_dns_name(survey, device.device);
  return cdi::Error{.code = cdi::Errc::not_found,
                    .message = "the device " + cdi::quoted(device.device) + " is in the pool " +
                               cdi::quoted(device.pool) + ", and this node has the pool " +
                               cdi::quoted(places_.node),
                    .advice = "run the pod on the node for which its claim was allocated"};
}

const prepare::ClaimedDevice* NodeClaims::find_claimed(const prepare::Claim& claim,
                                                       const AllocatedDevice& device) {
  const auto found = std::find_if(claim.devices.begin(), claim.devices.end(), [&](const auto& one) {
    return one.requested == device.device && one.request == device.request &&
           one.share_id == device.share_id;
  });
  return found == claim.devices.end() ? nullptr : &*found;
}

std::vector<PreparedDevice> NodeClaims::devices_of(const prepare::Claim& claim,
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

void NodeClaims::pass_on_warnings(const prepare::Claims& claims) {
  auto now = claims.warnings();
  for (const auto& text : now) {
    const bool is_new = std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end();
    if (is_new && warned) warned(text);
  }
  warnings_ = std::move(now);
}

}  // namespace dra
