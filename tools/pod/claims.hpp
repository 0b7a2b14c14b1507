// ResourceClaims and DeviceClasses of Kubernetes, as `peerpod` reads them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_CLAIMS_HPP
#define CDI_TOOLS_POD_CLAIMS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/text/parse_json.hpp>

#include "input.hpp"

// Kubernetes 1.37: resource.k8s.io v1, v1beta2 and v1beta1, in which a request has the members of
// `exactly` itself.

namespace pod {

/// One way to satisfy a request of a claim.
struct ClaimAlternative {
  std::string name{};  // of a subrequest; empty if it is the only alternative
  std::string device_class{};
  std::optional<std::int64_t> count{1};  // nullopt: all devices of a pool
  bool has_selectors = false;
};

struct ClaimRequest {
  std::string name{};
  std::vector<ClaimAlternative> alternatives{};
};

/// A device that the scheduler chose.
struct ClaimResult {
  std::string request{};  // `request` or `request/subrequest`
  std::string driver{};
  std::string device{};
};

/// The pod for which a claim was made from a template.
struct ClaimOwner {
  std::string name{};  // empty: it was not made for a pod
  std::string uid{};
};

struct Claim {
  std::string name{};
  std::string space{};  // its namespace; may be unknown
  ClaimOwner owner{};
  std::string pod_claim{};  // its name in the pod for which it was made
  std::vector<ClaimRequest> requests{};
  bool is_allocated = false;
  std::vector<ClaimResult> results{};

  /// The devices for a request.
  std::vector<ClaimResult> results_of(const std::string& request) const {
    std::vector<ClaimResult> out;
    for (const auto& one : results) {
      if (one.request == request || one.request.starts_with(request + "/")) out.push_back(one);
    }
    return out;
  }
};

/// Claims, and the resources for which DeviceClasses stand.
struct ClaimInput {
  std::vector<Claim> claims{};
  std::map<std::string, std::string> resources{};  // by DeviceClass: its extendedResourceName
};

namespace detail {

inline constexpr std::int64_t max_results = 32;  // of a claim, and of its requests

/// The items of a list that has at most 32.
inline std::vector<Member> few_items(const Member& list) {
  auto items = list.items();
  if (items.size() > max_results) list.reject("has more than the 32 items that a claim can have");
  return items;
}

inline ClaimAlternative read_alternative(const Member& object, std::string name) {
  ClaimAlternative out{.name = std::move(name),
                       .device_class = object.at("deviceClassName").text()};
  if (const auto count = object.find("count")) {
    out.count = count->count();
    if (*out.count > max_results)
      count->reject("is more than the 32 devices that a claim can have");
  }
  if (text_at(object, "allocationMode") == "All") out.count.reset();
  const auto selectors = object.find("selectors");
  out.has_selectors = selectors && !selectors->items().empty();
  return out;
}

inline ClaimRequest read_request(const Member& object) {
  ClaimRequest out{.name = object.at("name").text()};
  if (const auto list = object.find("firstAvailable")) {
    for (const auto& item : few_items(*list)) {
      out.alternatives.push_back(read_alternative(item, item.at("name").text()));
    }
    return out;
  }
  const auto exactly = object.find("exactly");
  out.alternatives.push_back(read_alternative(exactly ? *exactly : object, {}));
  return out;
}

/// The devices in an allocation, without those of `adminAccess`, which are not for use.
inline std::vector<ClaimResult> read_results(const Member& allocation) {
  std::vector<ClaimResult> out;
  const auto devices = allocation.find("devices");
  const auto results = devices ? devices->find("results") : std::nullopt;
  if (!results) return out;
  for (const auto& item : few_items(*results)) {
    if (boolean_at(item, "adminAccess", false)) continue;
    out.push_back({item.at("request").text(), item.at("driver").text(), item.at("device").text()});
  }
  return out;
}

inline ClaimOwner read_owner(const Member& metadata) {
  const auto references = metadata.find("ownerReferences");
  if (!references) return {};
  for (const auto& one : references->items()) {
    const bool is_pod = text_at(one, "kind") == "Pod" && text_at(one, "apiVersion") == "v1";
    if (is_pod && boolean_at(one, "controller", false)) {
      return {one.at("name").text(), text_at(one, "uid")};
    }
  }
  return {};
}

inline Claim read_claim(const Member& object) {
  const auto metadata = object.at("metadata");
  Claim out{.name = metadata.at("name").text(),
            .space = text_at(metadata, "namespace"),
            .owner = read_owner(metadata)};
  if (const auto annotations = metadata.find("annotations")) {
    out.pod_claim = text_at(*annotations, "resource.kubernetes.io/pod-claim-name");
  }
  const auto devices = object.at("spec").find("devices");
  const auto requests = devices ? devices->find("requests") : std::nullopt;
  if (requests) {
    for (const auto& item : few_items(*requests)) out.requests.push_back(read_request(item));
  }
  const auto status = object.find("status");
  const auto allocation = status ? status->find("allocation") : std::nullopt;
  out.is_allocated = allocation.has_value();
  if (allocation) out.results = read_results(*allocation);
  return out;
}

}  // namespace detail

/// Adds a ResourceClaim, a DeviceClass, or a list of them. An object without a kind has `kind`.
inline void read_claims(const Member& object, ClaimInput& out, std::string kind = {}) {
  if (const auto own = text_at(object, "kind"); !own.empty()) kind = own;
  if (kind == "ResourceClaim") {
    out.claims.push_back(detail::read_claim(object));
  } else if (kind == "DeviceClass") {
    const auto resource = text_at(object.at("spec"), "extendedResourceName");
    if (!resource.empty()) out.resources[object.at("metadata").at("name").text()] = resource;
  } else if (kind == "List" || kind == "ResourceClaimList" || kind == "DeviceClassList") {
    const auto list = object.find("items");
    if (!list) return;
    // The API leaves the kind out of the items of a list that has one kind.
    kind.erase(kind.size() - std::string_view{"List"}.size());
    for (const auto& item : list->items()) read_claims(item, out, kind);
  } else {
    object.reject("must be a ResourceClaim, a DeviceClass or a list of them, with its kind");
  }
}

/// Adds the claims in a file.
inline void read_claim_file(const std::string& file, ClaimInput& out) {
  const auto input = read_input(file);
  read_claims(input.root(), out);
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_CLAIMS_HPP
