// The VM of a peer pod whose devices the webhook of cloud-api-adaptor does not pass on: its
// instance type, and a CDI spec for its guest. SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_PEER_VM_HPP
#define CDI_TOOLS_POD_PEER_VM_HPP

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "claim_mapping.hpp"
#include "claims.hpp"
#include "guest_spec.hpp"
#include "input.hpp"
#include "instance.hpp"
#include "kata_annotations.hpp"

namespace pod {

/// What a pod asks of its VM, and what could not be mapped. Refers to the input and the answer.
class PeerVm {
 public:
  PeerVm(const ClaimInput& input, Answer& answer) : names_{input.resources}, answer_{&answer} {}

  /// Adds resources that containers request.
  void add_resource(const std::string& name, std::int64_t count) {
    if (count == 0) return;
    if (name == nvidia_) {
      need_.gpus += std::min(count, detail::max_device_count);
    } else {
      is_beyond_webhook_ = true;
      need_.devices[name] += std::min(count, detail::max_device_count);
    }
  }

  void set_size(std::int64_t vcpus, std::int64_t memory_mib) {
    need_.vcpus = vcpus;
    need_.memory_mib = memory_mib;
  }

  /// Adds a claim. Returns whether all its requests are mapped.
  bool add_claim(const Claim& claim) {
    is_beyond_webhook_ = true;
    const auto [known, is_new] = mapped_.emplace(std::pair{claim.space, claim.name}, true);
    if (!is_new) return known->second;
    auto& all = known->second;
    Json requests = Json::array();
    for (const auto& request : claim.requests) {
      const auto one = map_request(claim, request, names_);
      all = add_request(claim, one, requests) && all;
    }
    Json record{{"claim", claim.name}};
    if (!claim.space.empty()) record["namespace"] = claim.space;
    record["requests"] = std::move(requests);
    answer_->value["claims"].push_back(std::move(record));
    return all;
  }

  /// Adds claims without their pods. Devices for the guest get the namespace in their names if
  /// there are several.
  void add_claims(const std::vector<Claim>& claims) {
    for (const auto& claim : claims) {
      has_namespaces_ = has_namespaces_ || claim.space != claims.front().space;
    }
    for (const auto& claim : claims) add_claim(claim);
    if (!has_namespaces_) return;
    answer_->warnings.emplace_back(
        "the claims are of several namespaces, and a pod has claims of one: pass those of a pod");
  }

  /// The devices of the guest's spec for a claim of a container; empty if the spec has none.
  std::string guest_device(const Claim& claim, const std::string& request) const {
    const auto name = device_name(claim, request);
    return in_guest_.contains(name) ? std::string{claim_kind}.append("=").append(name)
                                    : std::string{};
  }

  /// Adds the spec for the guest, and the instance type of `types` that has everything.
  void finish(const std::optional<Member>& types, const std::string& named) {
    if (!spec_.empty()) answer_->value["guestSpec"] = spec_.json();
    if (types) choose(*types, named);
  }

 private:
  /// The name of a claim, with its namespace where others may have the same name.
  std::string claim_name(const Claim& claim, char separator) const {
    const bool is_long = has_namespaces_ && !claim.space.empty();
    return is_long ? claim.space + separator + claim.name : claim.name;
  }

  std::string device_name(const Claim& claim, const std::string& request) const {
    const auto name = claim_name(claim, '_');  // which a namespace does not have
    return request.empty() ? name : name + ":" + request;
  }

  /// Adds a request of a claim to the VM. Returns whether it is mapped.
  bool add_request(const Claim& claim, const MappedRequest& one, Json& requests) {
    const auto what = "request " + cdi::quoted(one.name) + " of ResourceClaim " +
                      cdi::quoted(claim_name(claim, '/'));
    Json record{{"request", one.name}};
    if (!one.instance.empty()) {
      record["instanceDevice"] = one.instance;
      instances_.insert(one.instance);
    } else if (!one.resource.empty()) {
      record["resource"] = one.resource;
      record["count"] = one.count;
      add_resource(one.resource, one.count);
      add_to_guest(claim, one, what);
    } else {
      record["reason"] = one.reason;
      answer_->warnings.push_back(what + " is not mapped: " + one.reason);
    }
    if (one.has_selectors) {
      answer_->warnings.push_back("the selectors of " + what + " are not evaluated");
    }
    requests.push_back(std::move(record));
    return one.reason.empty();
  }

  void add_to_guest(const Claim& claim, const MappedRequest& one, const std::string& what) {
    if (!GuestSpec::knows(one.resource)) {
      answer_->warnings.push_back("the device nodes of " + cdi::quoted(one.resource) + ", for " +
                                  what + ", are unknown: write a CDI spec in the guest");
      return;
    }
    const auto whole = device_name(claim, {});
    const auto first = spec_.next(one.resource);
    spec_.add(whole, one.resource, first, one.count);
    in_guest_.insert(whole);
    if (claim.requests.size() > 1) {
      const auto part = device_name(claim, one.name);
      spec_.add(part, one.resource, first, one.count);
      in_guest_.insert(part);
    }
    spec_.take(one.resource, one.count);
  }

  void choose(const Member& list, const std::string& named) {
    const bool any = need_.gpus > 0 || !need_.devices.empty();
    const auto types = detail::smallest_first(list, any || !named.empty() || !instances_.empty());
    if (!named.empty()) return check(types, named);
    if (!instances_.empty()) return choose_claimed(list);
    if (!any && (need_.vcpus == 0 || need_.memory_mib == 0)) return;
    const auto found = detail::first_fit(types, need_);
    if (found.empty()) {
      answer_->warnings.push_back("no instance type fits " + detail::amounts_text(need_));
      return;
    }
    set_instance(found, need_.gpus > 0 ? "gpus" : any ? "devices" : "vcpus and memory");
  }

  /// The type that a claim to the pool of `slices` has.
  void choose_claimed(const Member& list) {
    const auto types = detail::smallest_first(list, true);
    for (const auto& type : types) {
      if (instance_label(type.name) == *instances_.begin()) {
        set_instance(type.name, "claim");
        return check(types, type.name);
      }
    }
    answer_->warnings.push_back("no type has the name of the claimed device " +
                                cdi::quoted(*instances_.begin()));
  }

  void set_instance(const std::string& type, std::string_view rule) {
    answer_->value["instance"] = type;
    answer_->value["rule"] = rule;
    if (!is_beyond_webhook_) return;
    answer_->warnings.push_back("set the annotation " + std::string{instance_annotation} + ": " +
                                type +
                                ", because the webhook passes only nvidia.com/gpu of "
                                "containers on");
  }

  void check(const std::vector<detail::InstanceType>& types, const std::string& named) {
    for (const auto& type : types) {
      if (type.name != named) continue;
      if (detail::fits(type, need_)) {
        answer_->value["instance"] = named;
        if (!answer_->value.contains("rule")) answer_->value["rule"] = "machineType";
        return;
      }
      answer_->warnings.push_back("instance type " + cdi::quoted(named) + " does not fit " +
                                  detail::amounts_text(need_));
      return;
    }
    answer_->warnings.push_back("instance type " + cdi::quoted(named) + " is not in types");
  }

  static constexpr std::string_view nvidia_ = "nvidia.com/gpu";
  ResourceNames names_;
  Answer* answer_;
  detail::InstanceType need_{};
  bool is_beyond_webhook_ = false;  // it has devices that the webhook does not know
  GuestSpec spec_{};
  // By namespace and name of a claim: whether all its requests are mapped.
  std::map<std::pair<std::string, std::string>, bool> mapped_{};
  bool has_namespaces_ = false;        // whether there are claims of several namespaces
  std::set<std::string> in_guest_{};   // the devices of the spec
  std::set<std::string> instances_{};  // the claimed devices of the pool of instance types
};

}  // namespace pod

#endif  // CDI_TOOLS_POD_PEER_VM_HPP
